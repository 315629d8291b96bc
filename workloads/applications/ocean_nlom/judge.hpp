// What every run must come to, and what is told of it.
#pragma once

#include <cfloat>
#include <cstring>

#include "firstlight/damage.hpp"
#include "replay.hpp"
#include "setup.hpp"

namespace ocean_nlom::inline FL_ROLE {

// Rounding: pressures of the whole depth push by as much as the fastest wave moves.
inline double allowed_speed(const Params& p) { return 4 * DBL_EPSILON * p.speed() * (1 + static_cast<double>(p.steps)); }
inline double allowed_height(const Params& p) { return 4 * DBL_EPSILON * p.depth() * (1 + static_cast<double>(p.steps)); }

class Judged {
 public:
  explicit Judged(const Params& p) : p_(p) {}
  void cell(const char* name, const grid::Point<3>& g, double found, double expected, double allowed) {
    worst_.consider(std::fabs(found - expected), allowed, [&] {
      return fl::text("%s of layer %lld, line %lld, column %lld is %.17g, expected %.17g", name, g[0], g[1], g[2], found, expected);
    });
  }
  // Whatever gives u, v and h of a cell of the whole domain.
  template <class Truth>
  void box(State& s, const grid::Box<3>& local, const Truth& truth) {
    grid::each_cell(local, [&](const grid::Point<3>& c) {
      const grid::Point<3> g = s.block.global(c);
      cell("u", g, s.now.u[c], truth(0, g), allowed_speed(p_));
      cell("v", g, s.now.v[c], truth(1, g), allowed_speed(p_));
      cell("h", g, s.now.h[c], truth(2, g), allowed_height(p_));
    });
  }
  fl::WorstError& worst() { return worst_; }

 private:
  const Params& p_;
  fl::WorstError worst_;
};

inline void against_a_replay(State& s, Judged& judged, const grid::Box<3>& local) {
  const auto& low = s.block.owned.lower;
  Replay replay(s, {{local.lower[1] + low[1], local.lower[2] + low[2]}, {local.upper[1] + low[1], local.upper[2] + low[2]}});
  replay.run();
  judged.box(s, local, [&](int field, const grid::Point<3>& g) {
    return field == 0 ? replay.u(g[0], g[1], g[2]) : field == 1 ? replay.v(g[0], g[1], g[2]) : replay.h(g[0], g[1], g[2]);
  });
}

// The block, or boxes at its corners and at two drawn places.
inline void against_replays(State& s, Judged& judged) {
  const grid::Box<3> cells = s.block.cells();
  if (replayed(s.p, s.team.ranks).whole) return against_a_replay(s, judged, cells);
  const auto begin = [&](std::size_t d, int which, std::uint64_t salt) -> Index {
    const Index room = std::max<Index>(0, cells.upper[d] - box_edge);
    return which == 0 ? 0 : which == 1 ? room : static_cast<Index>(fl::hash(fl::seed() + salt) % static_cast<std::uint64_t>(room + 1));
  };
  for (int n = 0; n < 6; ++n) {
    const Index j = begin(1, n < 4 ? n / 2 : 2, static_cast<std::uint64_t>(2 * n)),
                i = begin(2, n < 4 ? n % 2 : 2, static_cast<std::uint64_t>(2 * n + 1));
    against_a_replay(s, judged, grid::intersection(cells, grid::Box<3>{{0, j, i}, {s.p.layers, j + box_edge, i + box_edge}}));
  }
}

// H. Stommel, Trans. AGU 29 (1948) 202. Transport in m^3/s at x, y from the south-western corner, m.
inline double stommel(const Params& p, double wind, double x, double y) {
  const double l = p.length, r = p.drag, root = std::sqrt(p.beta() * p.beta() + std::pow(2 * r * M_PI / l, 2));
  const double decay = (-p.beta() - root) / (2 * r), rise = (-p.beta() + root) / (2 * r);
  const double a = (1 - std::exp(decay * l)) / (std::exp(rise * l) - std::exp(decay * l));
  return wind * l / (M_PI * density * r) * (1 - a * std::exp(rise * x) - (1 - a) * std::exp(decay * x)) * std::sin(M_PI * y / l);
}
// The largest error of the transport, of the largest transport.
inline double gyre_error(State& s) {
  const Params& p = s.p;
  std::vector<double> flux(static_cast<std::size_t>(p.nx * p.ny), 0);  // through western faces
  grid::each_cell(s.block.cells(), [&](const grid::Point<3>& c) {
    const grid::Point<3> g = s.block.global(c), west{0, c[1], c[2] - 1};
    if (g[2] > 0) flux[static_cast<std::size_t>(g[1] * p.nx + g[2])] = s.now.u[c] * (s.now.h[west] + s.now.h[c]) / 2;
  });
  fl::add_up(flux.data(), static_cast<int>(flux.size()));
  double most = 0, worst = 0;
  for (Index i = 1; i < p.nx; ++i) {
    double transport = 0;
    for (Index j = 0; j < p.ny; ++j) {
      const double exact = stommel(p, s.wind, static_cast<double>(i) * p.dx(), static_cast<double>(j) * p.dy());
      most = std::max(most, std::fabs(exact));
      worst = std::max(worst, std::fabs(transport - exact));
      transport -= flux[static_cast<std::size_t>(j * p.nx + i)] * p.dy();
    }
  }
  return worst / most;
}

// What the frictionless forms keep: the sum of all its changes over the sum of their amounts. Of the judge's rates, which each cell of the
// variant was held to.
inline double left_open(const State& s) {
  const Params& p = s.p;
  const Replay at(s, {{0, 0}, {p.ny, p.nx}});
  long double sum = 0, amount = 0;
  const auto add = [&](double x) { sum += x, amount += std::fabs(x); };
  for (Index k = 0; k < p.layers; ++k)
    for (Index j = 0; j < p.ny; ++j)
      for (Index i = 0; i < p.nx; ++i) {
        if (p.form == Form::energy) {
          add(at.flux_u(k, j, i) * at.rate_u(k, j, i));
          add(at.flux_v(k, j, i) * at.rate_v(k, j, i));
          add(at.head(k, j, i) * at.rate_h(k, j, i));
        } else {
          const double q = at.q(k, j, i);
          const double curl =
              (at.rate_v(k, j, i) - at.rate_v(k, j, i - 1)) / p.dx() - (at.rate_u(k, j, i) - at.rate_u(k, j - 1, i)) / p.dy();
          const double thicker = (at.rate_h(k, j, i) + at.rate_h(k, j, i - 1) + at.rate_h(k, j - 1, i) + at.rate_h(k, j - 1, i - 1)) / 4;
          add(q * curl);
          add(-q * q * thicker / 2);
        }
      }
  return static_cast<double>(std::fabs(sum) / amount);
}

inline double mass_change(State& s) {
  long double change = 0, mass = 0;
  grid::each_cell(s.block.cells(), [&](const grid::Point<3>& c) {
    change += static_cast<long double>(s.now.h[c]) - s.start.h[c];
    mass += s.start.h[c];
  });
  return std::fabs(fl::total(static_cast<double>(change))) / fl::total(static_cast<double>(mass));
}

// Roundings of many steps walk at random.
inline double allowed_mass(const Params& p) { return 1e-15 * std::max(1.0, std::sqrt(static_cast<double>(p.steps) / 1e4)); }

inline fl::Check check(State& s, Index last) {
  const Params& p = s.p;
  touch(s, last);  // the judge's own words for the length of a time step and for the wind, whatever a variant left there
  Judged judged(p);
  const double mass = mass_change(s);
  judged.worst().consider(mass, allowed_mass(p), [&] { return fl::text("the mass changed by %.3g of itself", mass); });
  if (p.problem == Problem::jet) {
    judged.box(s, s.block.cells(), [&](int field, const grid::Point<3>& g) {
      return field == 0 ? start_u(s, g[0], g[1], g[2]) : field == 1 ? 0 : start_h(s, g[0], g[1], g[2]);
    });
  } else if (known(p)) {
    const double error = gyre_error(s), allowed = 18 / static_cast<double>(p.nx * p.nx);
    judged.worst().consider(error, allowed, [&] { return fl::text("the gyre's transport is off by %.3g of the largest", error); });
  }
  if (replayed(p, s.team.ranks).cells > 0) against_replays(s, judged);
  if (p.problem == Problem::waves && p.nx * p.ny * p.layers <= 20000) {
    const double open = left_open(s);
    judged.worst().consider(open, 1e-12, [&] { return fl::text("%.3g of what changes is not balanced", open); });
  }
  return judged.worst().check(fl::text("all cells that were compared agree; the mass changed by %.3g of itself", mass));
}

// A sum of the bits of all cells, the same whoever holds them.
inline double digest(State& s) {
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

inline void observe(State& s, fl::Observations& seen) {
  seen.value("digest", digest(s));
  seen.value("dt", s.dt);
  seen.value("gyre_error", s.p.problem == Problem::stommel ? gyre_error(s) : 0);
}

// The height of the sea's surface.
inline void draw(State& s, fl::Picture& picture) {
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

}  // namespace ocean_nlom::inline FL_ROLE
