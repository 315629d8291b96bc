// The judge's own run: the same differences by functions of a cell that are asked, not by arrays that are filled; on a box of the domain with so
// much around it that what is not known there has no time to come in: two cells a stage.
#pragma once

#include "inputs.hpp"

namespace ocean_nlom::inline FL_ROLE {

inline constexpr Index around_a_step = 6;                          // cells
inline constexpr double dearest = 3e5;                             // cells, layers and time steps of all boxes
inline constexpr Index box_edge = 8;                               // of boxes of a large block
inline constexpr Index most_cells = 2000000, large_box_edge = 64;  // of blocks and boxes, of a step alone

// s, twelve times what friction takes to stop a basin-wide flow.
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

class Replay {
 public:
  // Of this box of the whole domain, in global lines and columns.
  Replay(const State& s, const grid::Box<2>& box) : Replay(s, box, around_a_step * s.p.steps + 2) {
    each([&](Index k, Index j, Index i) {
      const Index gj = around(j, p_.ny, 1), gi = around(i, p_.nx, 2);
      if (wet(j, i) && wet(j, i - 1)) y_[0][at(k, j, i)] = start_u(s, k, gj, gi);
      if (wet(j, i) && wet(j - 1, i)) y_[1][at(k, j, i)] = start_v(s, k, gj, gi);
      if (wet(j, i)) y_[2][at(k, j, i)] = start_h(s, k, gj, gi);
    });
  }
  // At rest, with so much around it.
  Replay(const State& s, const grid::Box<2>& box, Index margin) : s_(s), p_(s.p) {
    for (std::size_t d = 0; d < 2; ++d) {
      low_[d] = box.lower[d] - margin, high_[d] = box.upper[d] + margin;
      if (p_.domain().periodic[d + 1]) continue;
      low_[d] = std::max<Index>(low_[d], -2), high_[d] = std::min(high_[d], p_.domain().extents[d + 1] + 2);
    }
    rows_ = high_[0] - low_[0], columns_ = high_[1] - low_[1];
    land_.resize(static_cast<std::size_t>(rows_ * columns_));
    for (Index j = low_[0]; j < high_[0]; ++j)
      for (Index i = low_[1]; i < high_[1]; ++i) land_[at(0, j, i)] = is_wet(p_, j, i) ? 0 : 1;
    for (auto& f : y_) f.assign(static_cast<std::size_t>(rows_ * columns_ * p_.layers), 0);
  }
  // What the process has of a flow, halos included.
  void left(const Flow& flow) {
    const auto& low = s_.block.owned.lower;
    each([&](Index k, Index j, Index i) {
      const grid::Point<3> local{k, j - low[1], i - low[2]};
      y_[0][at(k, j, i)] = flow.u[local], y_[1][at(k, j, i)] = flow.v[local], y_[2][at(k, j, i)] = flow.h[local];
    });
  }
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

  double u(Index k, Index j, Index i) const { return get(0, k, j, i); }
  double v(Index k, Index j, Index i) const { return get(1, k, j, i); }
  double h(Index k, Index j, Index i) const { return get(2, k, j, i); }
  // Of a cell that is inside.
  double& value(std::size_t field, Index k, Index j, Index i) { return y_[field][at(k, j, i)]; }
  void take(const Replay& other) { y_ = other.y_; }
  bool wet(Index j, Index i) const { return inside(j, i) && land_[at(0, j, i)] == 0; }

  double rate_u(Index k, Index j, Index i) const {
    return turning_u(k, j, i) - (pressure(k, j, i) - pressure(k, j, i - 1)) / p_.dx() + friction_u(k, j, i);
  }
  double rate_v(Index k, Index j, Index i) const {
    return turning_v(k, j, i) - (pressure(k, j, i) - pressure(k, j - 1, i)) / p_.dy() + friction_v(k, j, i);
  }
  // Rates but for pressure and friction.
  double turning_u(Index k, Index j, Index i) const {
    double turn = 0;
    for (const Index jj : {j, j + 1})
      for (const Index ii : {i - 1, i})
        turn += (p_.form == Form::energy ? q(k, jj, i) : (q(k, j, i) + q(k, j + 1, i)) / 2) * flux_v(k, jj, ii) / 4;
    const double top = k == 0 ? stress_at(p_, around(j, p_.ny, 1), s_.wind) / density / ((h(k, j, i - 1) + h(k, j, i)) / 2) : 0;
    return turn - (kinetic(k, j, i) - kinetic(k, j, i - 1)) / p_.dx() + top;
  }
  double turning_v(Index k, Index j, Index i) const {
    double turn = 0;
    for (const Index ii : {i, i + 1})
      for (const Index jj : {j - 1, j})
        turn += (p_.form == Form::energy ? q(k, j, ii) : (q(k, j, i) + q(k, j, i + 1)) / 2) * flux_u(k, jj, ii) / 4;
    return -turn - (kinetic(k, j, i) - kinetic(k, j - 1, i)) / p_.dy();
  }
  double friction_u(Index k, Index j, Index i) const {
    const double rubbed = (divergence(k, j, i) - divergence(k, j, i - 1)) / p_.dx() - (zeta(k, j + 1, i) - zeta(k, j, i)) / p_.dy();
    return viscosity(p_) * rubbed - bottom_drag(k) * u(k, j, i);
  }
  double friction_v(Index k, Index j, Index i) const {
    const double rubbed = (divergence(k, j, i) - divergence(k, j - 1, i)) / p_.dy() + (zeta(k, j, i + 1) - zeta(k, j, i)) / p_.dx();
    return viscosity(p_) * rubbed - bottom_drag(k) * v(k, j, i);
  }
  double rate_h(Index k, Index j, Index i) const {
    return -(flux_u(k, j, i + 1) - flux_u(k, j, i)) / p_.dx() - (flux_v(k, j + 1, i) - flux_v(k, j, i)) / p_.dy();
  }
  double flux_u(Index k, Index j, Index i) const { return u(k, j, i) * (p_.linear() ? p_.rest(k) : (h(k, j, i - 1) + h(k, j, i)) / 2); }
  double flux_v(Index k, Index j, Index i) const { return v(k, j, i) * (p_.linear() ? p_.rest(k) : (h(k, j - 1, i) + h(k, j, i)) / 2); }
  double head(Index k, Index j, Index i) const { return pressure(k, j, i) + kinetic(k, j, i); }
  double pressure(Index k, Index j, Index i) const {
    double m = 0;
    for (Index upper = 0; upper <= k; ++upper) {
      double height = bottom_at(p_, around(j, p_.ny, 1), around(i, p_.nx, 2));
      for (Index n = p_.layers; n-- > upper;) height += h(n, j, i) - p_.rest(n);
      m += reduced[static_cast<std::size_t>(upper)] * height;
    }
    return m;
  }
  double kinetic(Index k, Index j, Index i) const { return p_.linear() ? 0 : moving(k, j, i); }
  double moving(Index k, Index j, Index i) const {
    return (std::pow(u(k, j, i), 2) + std::pow(u(k, j, i + 1), 2) + std::pow(v(k, j, i), 2) + std::pow(v(k, j + 1, i), 2)) / 4;
  }
  // At the south-western corner.
  double q(Index k, Index j, Index i) const {
    if (p_.linear()) return p_.coriolis(j) / p_.rest(k);
    const double mean = corner_h(k, j, i);
    return mean == 0 ? 0 : (zeta(k, j, i) + p_.coriolis(around(j, p_.ny, 1))) / mean;
  }
  double vortex(Index k, Index j, Index i) const { return zeta(k, j, i) + p_.coriolis(around(j, p_.ny, 1)); }
  double corner_h(Index k, Index j, Index i) const {
    const int count = wets(j, i);
    return count == 0 ? 0 : (h(k, j, i) + h(k, j, i - 1) + h(k, j - 1, i) + h(k, j - 1, i - 1)) / count;
  }

 private:
  using Index2 = std::array<Index, 2>;
  bool inside(Index j, Index i) const { return j >= low_[0] && j < high_[0] && i >= low_[1] && i < high_[1]; }
  std::size_t at(Index k, Index j, Index i) const { return static_cast<std::size_t>((k * rows_ + j - low_[0]) * columns_ + i - low_[1]); }
  double get(std::size_t field, Index k, Index j, Index i) const { return inside(j, i) ? y_[field][at(k, j, i)] : 0; }
  Index around(Index x, Index n, std::size_t d) const { return p_.domain().periodic[d] ? (x % n + n) % n : x; }
  int wets(Index j, Index i) const { return wet(j, i) + wet(j, i - 1) + wet(j - 1, i) + wet(j - 1, i - 1); }
  double zeta(Index k, Index j, Index i) const {
    const double z = (v(k, j, i) - v(k, j, i - 1)) / p_.dx() - (u(k, j, i) - u(k, j - 1, i)) / p_.dy();
    return wets(j, i) == 4 ? z : p_.slip == Slip::free ? 0 : 2 * z;
  }
  double divergence(Index k, Index j, Index i) const {
    return (u(k, j, i + 1) - u(k, j, i)) / p_.dx() + (v(k, j + 1, i) - v(k, j, i)) / p_.dy();
  }
  double bottom_drag(Index k) const { return k == p_.layers - 1 ? drag(p_) : 0; }
  template <class Visit>
  void each(Visit visit) const {
    for (Index k = 0; k < p_.layers; ++k)
      for (Index j = low_[0]; j < high_[0]; ++j)
        for (Index i = low_[1]; i < high_[1]; ++i) visit(k, j, i);
  }

  const State& s_;
  const Params& p_;
  Index2 low_{}, high_{};
  Index rows_ = 0, columns_ = 0;
  std::vector<char> land_;
  std::array<std::vector<double>, 3> y_;
};

}  // namespace ocean_nlom::inline FL_ROLE
