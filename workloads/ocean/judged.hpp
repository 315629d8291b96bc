// What the checks of ocean workloads have in common, and the values they report of a run.
#pragma once

#include <cfloat>
#include <cstring>

#include "cells.hpp"
#include "firstlight/error_summary.hpp"

namespace ocean {

// allowed_speed() and allowed_height() are the workload's.
template <class P>
class Judged {
 public:
  explicit Judged(const P& p) : p_(p) {}
  void cell(const char* name, const grid::Point<3>& g, double found, double expected, double allowed) {
    worst_.consider(std::fabs(found - expected), allowed, [&] {
      return fl::text("%s of layer %lld, line %lld, column %lld is %.17g, expected %.17g", name, g[0], g[1], g[2], found, expected);
    });
  }
  // A source of u, v and h of a cell of the whole domain.
  template <class State, class Truth>
  void box(State& s, const grid::Box<3>& local, const Truth& truth) {
    grid::each_cell(local, [&](const grid::Point<3>& c) {
      const grid::Point<3> g = s.block.global(c);
      cell("u", g, s.now.u[c], truth(0, g), allowed_speed(p_));
      cell("v", g, s.now.v[c], truth(1, g), allowed_speed(p_));
      cell("h", g, s.now.h[c], truth(2, g), allowed_height(p_));
    });
  }
  // Against a run of the judge's own.
  template <class State>
  void beside(State& s, const grid::Box<3>& local, const Cells<State>& truth) {
    box(s, local, [&](int field, const grid::Point<3>& g) {
      return field == 0 ? truth.u(g[0], g[1], g[2]) : field == 1 ? truth.v(g[0], g[1], g[2]) : truth.h(g[0], g[1], g[2]);
    });
  }
  // That nothing moved. Through walls nothing ever does.
  template <class State>
  void as_it_began(State& s) {
    box(s, s.block.cells(), [&](int field, const grid::Point<3>& g) {
      const auto wet = [&](Index j, Index i) { return is_wet(p_, j, i); };
      const bool here = wet(g[1], g[2]);
      if (field == 0) return here && wet(g[1], g[2] - 1) ? start_u(s, g[0], g[1], g[2]) : 0.0;
      if (field == 1) return here && wet(g[1] - 1, g[2]) ? start_v(s, g[0], g[1], g[2]) : 0.0;
      return here ? start_h(s, g[0], g[1], g[2]) : 0.0;
    });
  }
  fl::WorstError& worst() { return worst_; }

 private:
  const P& p_;
  fl::WorstError worst_;
};

// Returns the relative change of mass of the layer that lost or won most.
template <class State>
double layer_change(State& s) {
  double worst = 0;
  for (Index k = 0; k < s.p.layers; ++k) {
    grid::Box<3> layer = s.block.cells();
    layer.lower[0] = k, layer.upper[0] = k + 1;
    long double change = 0, mass = 0;
    grid::each_cell(layer,
                    [&](const grid::Point<3>& c) { change += static_cast<long double>(s.now.h[c]) - s.start.h[c], mass += s.start.h[c]; });
    worst = std::max(worst, std::fabs(fl::total(static_cast<double>(change))) / fl::total(static_cast<double>(mass)));
  }
  return worst;
}

// Returns a sum of the bits of all cells; it does not depend on the process that stores them.
template <class State>
double digest(State& s) {
  double sum = 0;
  grid::each_cell(s.block.cells(), [&](const grid::Point<3>& c) {
    std::uint64_t word = s.block.number(s.block.global(c));
    for (auto* field : s.now.all()) {
      std::uint64_t bits;
      std::memcpy(&bits, &(*field)[c], sizeof bits);
      word = fl::hash(word ^ bits);
    }
    sum += static_cast<double>(word >> 44);
  });
  return fl::total(sum);
}

// Wall time of a model day at the longest steps that may be, s: what R3 reports. The time of all phases, and of none.
template <class P>
double day_time(const P& p, const fl::Observations& seen, const fl::Phases& phases) {
  double wall = seen.seconds({});
  for (int k = 0; k < phases.count(); ++k) wall += seen.seconds({k + 1, phases.name(k)});
  return wall / (p.longest() * static_cast<double>(p.steps)) * 86400;
}

// The height of the sea's surface.
template <class State>
void draw_surface(State& s, fl::Picture& picture) {
  picture.of("surface", "m", s.p.ny, s.p.nx);
  const grid::Point<3> size = s.block.size(), low = s.block.owned.lower;
  std::vector<double> line(static_cast<std::size_t>(size[2]));
  for (Index j = 0; j < size[1]; ++j) {
    for (Index i = 0; i < size[2]; ++i) {
      double height = 0;
      for (Index k = s.p.layers; k-- > 0;) height += s.now.h[{k, j, i}] - s.p.rest(k);
      const bool wet = s.wet[{0, j, i}] != 0;
      line[static_cast<std::size_t>(i)] = wet ? height + s.bottom[{0, j, i}] : 0;
    }
    picture.row(low[1] + j, low[2], line.data(), size[2]);
  }
}

}  // namespace ocean
