// The judge's own run, of differences by functions of a cell: on a box of the domain with so much around it that what is not known there has no time to come in: two cells a stage.
#pragma once

#include "../cells.hpp"
#include "inputs.hpp"

namespace ocean_nlom {

inline constexpr Index around_a_step = 6;                          // cells
inline constexpr double dearest = 3e5;                             // cells, layers and time steps of all boxes
inline constexpr Index box_edge = 8;                               // of boxes of a large block
inline constexpr Index most_cells = 2000000, large_box_edge = 64;  // of blocks and boxes, of a step alone

// s, twelve times the time in which friction stops a basin-wide flow.
inline double viscous_spin_up(const Params& p) { return 12 / (p.viscosity * 2 * std::pow(M_PI / p.length, 2)); }
// Whether the end of a run is known without another run.
inline bool known(const Params& p) {
  const double time = p.longest() * 0.76 * static_cast<double>(p.steps);
  if (p.problem == Problem::seiche) return p.time == Time::explicitly || p.filter == 0;
  return p.problem == Problem::jet || p.problem == Problem::geostrophic || (p.problem == Problem::stommel && time > spun_up) ||
         (p.problem == Problem::munk && time > viscous_spin_up(p));
}

struct Replayed {
  Index cells = 0;  // along the edge of a box; 0: none could be paid for
  bool whole = false;
};
// Whole blocks, or boxes, or nothing.
inline Replayed replayed(const Params& p, Index ranks) {
  const auto price = [&](double ny, double nx) {
    const double margin = 2.0 * around_a_step * static_cast<double>(p.steps);
    const auto across = [&](double n, Index all, bool periodic) {
      return periodic ? n + margin : std::min(n + margin, static_cast<double>(all) + 4);
    };
    return across(ny, p.ny, p.domain().periodic[1]) * across(nx, p.nx, p.domain().periodic[2]) * static_cast<double>(p.layers * p.steps);
  };
  const auto blocks = *grid::process_grid(p.domain(), ranks);
  const double ny = std::ceil(static_cast<double>(p.ny) / static_cast<double>(blocks.count[1]));
  const double nx = std::ceil(static_cast<double>(p.nx) / static_cast<double>(blocks.count[2]));
  if (price(ny, nx) < dearest) return {std::max<Index>(static_cast<Index>(std::max(ny, nx)), 1), true};
  if (6 * price(box_edge, box_edge) < 4 * dearest) return {box_edge, false};
  return {};
}

class Replay : public ocean::Cells<State> {
 public:
  // Starts a run of this box of the whole domain, in global lines and columns.
  Replay(const State& s, const grid::Box<2>& box) : Replay(s, box, around_a_step * s.p.steps + 2) { begin(); }
  // At rest, with so much around it.
  using ocean::Cells<State>::Cells;
  void run() {
    for (Index t = 0; t < p_.steps; ++t) {
      const auto begin = y_;
      for (const double part : {1.0 / 3, 1.0 / 2, 1.0}) {
        auto next = begin;
        each([&](Index k, Index j, Index i) {
          if (wet(j, i) && wet(j, i - 1)) next[0][at(k, j, i)] += part * s_.dt * rate_u(k, j, i);
          if (wet(j, i) && wet(j - 1, i)) next[1][at(k, j, i)] += part * s_.dt * rate_v(k, j, i);
          if (wet(j, i)) next[2][at(k, j, i)] += part * s_.dt * rate_h(k, j, i);
        });
        y_ = next;
      }
    }
  }

  double rate_u(Index k, Index j, Index i) const {
    return driven_u(k, j, i) - (pressure(k, j, i) - pressure(k, j, i - 1)) / p_.dx() + friction_u(k, j, i);
  }
  double rate_v(Index k, Index j, Index i) const {
    return turning_v(k, j, i) - (pressure(k, j, i) - pressure(k, j - 1, i)) / p_.dy() + friction_v(k, j, i);
  }
  // Turned, and blown at.
  double driven_u(Index k, Index j, Index i) const {
    const double deep = (h(k, j, i - 1) + h(k, j, i)) / 2;
    return turning_u(k, j, i) + (k == 0 ? ocean::stress_at(p_, around(j, p_.ny, 1), s_.wind) / ocean::density / deep : 0);
  }
  double friction_u(Index k, Index j, Index i) const {
    const double curved = biharmonic(p_) == 0 ? 0 : biharmonic(p_) * curved_u(k, j, i);
    return viscosity(p_) * spread_u(k, j, i) - curved - bottom_drag(k) * u(k, j, i);
  }
  double friction_v(Index k, Index j, Index i) const {
    const double curved = biharmonic(p_) == 0 ? 0 : biharmonic(p_) * curved_v(k, j, i);
    return viscosity(p_) * spread_v(k, j, i) - curved - bottom_drag(k) * v(k, j, i);
  }

 private:
  double bottom_drag(Index k) const { return k == p_.layers - 1 ? drag(p_) : 0; }
};

}  // namespace ocean_nlom
