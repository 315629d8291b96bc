// Checks the result of every run and reports its values.
#pragma once

#include <cfloat>
#include <complex>
#include <numeric>

#include "../gyres.hpp"
#include "../judged.hpp"
#include "implicit.hpp"
#include "replay.hpp"
#include "setup.hpp"

namespace ocean_nlom {

// Returns the mean number of conjugate gradient iterations per time step.
inline double mean_iterations(const State& s, Index mode) {
  return static_cast<double>(s.iterations[static_cast<std::size_t>(mode)]) / static_cast<double>(s.p.steps);
}

// Rounding: pressures of the whole depth push by as much as the fastest wave moves.
inline double roundings(const Params& p, Index steps) {
  // A long step pushes further by what a sum of layers is off, or what cells are that it couples to all others.
  const double further = p.time == Time::semi ? std::max(1.0, p.courant * std::max(static_cast<double>(p.layers), p.courant)) : 1;
  const double left = p.iterates() ? 8 * p.tolerance : 0;  // by the solver: of a cell, where all have p.tolerance on average
  return 4 * (DBL_EPSILON + left) * (1 + static_cast<double>(steps)) * further;
}
inline double allowed_speed(const Params& p) { return roundings(p, p.steps) * p.speed(); }
inline double allowed_height(const Params& p) { return roundings(p, p.steps) * p.depth(); }

using Judged = ocean::Judged<Params>;

inline void against_a_replay(State& s, Judged& judged, const grid::Box<3>& local) {
  const auto& low = s.block.owned.lower;
  Replay replay(s, {{local.lower[1] + low[1], local.lower[2] + low[2]}, {local.upper[1] + low[1], local.upper[2] + low[2]}});
  replay.run();
  judged.beside(s, local, replay);
}

// visit(box) of the block, or of boxes of such an edge at its corners and at two drawn places.
template <class Visit>
void each_box(const State& s, bool whole, Index edge, const Visit& visit) {
  const grid::Box<3> cells = s.block.cells();
  if (whole) return visit(cells);
  const auto begin = [&](std::size_t d, int which, std::uint64_t salt) -> Index {
    const Index room = std::max<Index>(0, cells.upper[d] - edge);
    return which == 0 ? 0 : which == 1 ? room : static_cast<Index>(fl::hash(fl::seed() + salt) % static_cast<std::uint64_t>(room + 1));
  };
  for (int n = 0; n < 6; ++n) {
    const Index j = begin(1, n < 4 ? n / 2 : 2, static_cast<std::uint64_t>(2 * n)),
                i = begin(2, n < 4 ? n % 2 : 2, static_cast<std::uint64_t>(2 * n + 1));
    visit(grid::intersection(cells, grid::Box<3>{{0, j, i}, {s.p.layers, j + edge, i + edge}}));
  }
}
inline void against_replays(State& s, Judged& judged) {
  each_box(s, replayed(s.p, s.team.ranks).whole, box_edge, [&](const grid::Box<3>& box) { against_a_replay(s, judged, box); });
}

// Returns the allowed relative change of a layer. What fluxes carry is lost in roundings of single cells alone, which walk at random; what
// is taken from a pressure is off by roundings of the whole depth's.
inline double allowed_layer(const Params& p) {
  return 8 * DBL_EPSILON * std::sqrt(static_cast<double>(p.steps) / static_cast<double>(p.nx * p.ny));
}

// What the last step left open in a box; it can be computed for an ocean of any size.
inline void against_the_last_step(State& s, Judged& judged, const grid::Box<3>& local) {
  const Params& p = s.p;
  const grid::Box<3> box = local.shifted(s.block.owned.lower);
  const LastStep left(s, {{box.lower[1], box.lower[2]}, {box.upper[1], box.upper[2]}});
  grid::each_cell(box, [&](const grid::Point<3>& g) {
    judged.cell("the residual of the last step for u", g, left.u(g[0], g[1], g[2]), 0, roundings(p, 1) * p.speed());
    judged.cell("the residual of the last step for v", g, left.v(g[0], g[1], g[2]), 0, roundings(p, 1) * p.speed());
    judged.cell("the residual of the last step for h", g, left.h(g[0], g[1], g[2]), 0, roundings(p, 1) * p.depth());
  });
}
// The whole run, where it can be paid for; its last step; and the speeds of the modes.
inline void against_the_equations(State& s, Judged& judged) {
  const Params& p = s.p;
  if (eliminable(p)) {
    Implicit run(s);
    const Replay& end = run.run();
    judged.box(s, s.block.cells(), [&](int field, const grid::Point<3>& g) {
      return field == 0 ? end.u(g[0], g[1], g[2]) : field == 1 ? end.v(g[0], g[1], g[2]) : end.h(g[0], g[1], g[2]);
    });
  }
  each_box(s, s.block.cells().cells() < most_cells, large_box_edge,
           [&](const grid::Box<3>& box) { against_the_last_step(s, judged, box); });
  const double layer = ocean::layer_change(s);
  judged.worst().consider(layer, allowed_layer(p), [&] { return fl::text("the mass of a layer changed by a fraction of %.3g", layer); });
  for (Index m = 0; m < p.layers; ++m) {
    const double speed = std::sqrt(s.squared[static_cast<std::size_t>(m)]);
    const bool right = faster(p, speed * (1 + 1e-10)) == m && faster(p, speed * (1 - 1e-10)) == m + 1;
    judged.worst().consider(right ? 0 : 1, 0.5, [&] { return fl::text("no vertical mode %lld travels at %.10g m/s", m, speed); });
  }
}

// What only costs iterations is checked against their number: of a mode, by how far its waves come in a time step and how long cells are.
inline double allowed_iterations(const Params& p, double speed) {
  const double courant = p.courant * speed / p.speed(), longer = std::max(p.dx() / p.dy(), p.dy() / p.dx());
  return (8 + 2.2 * std::log2(1 + courant)) * std::pow(longer, 0.75) + 1;
}
inline void against_a_count(const State& s, Judged& judged) {
  for (Index m = 0; m < s.p.layers; ++m) {
    const double count = mean_iterations(s, m), allowed = allowed_iterations(s.p, std::sqrt(s.squared[static_cast<std::size_t>(m)]));
    judged.worst().consider(count, allowed, [&] {
      return fl::text("vertical mode %lld needed %.3g iterations per time step; the limit is %.3g", m, count, allowed);
    });
  }
}

// The phase of a seiche that began at its highest, and what is left of it: three stages of a time step, or averages over two steps after
// one over one.
inline std::complex<double> swung(const Params& p, double dt) {
  const double turn = std::sqrt(gravity * p.depth()) * dt * 2 / p.dx() * std::sin(half_waves * M_PI / (2 * static_cast<double>(p.nx)));
  const auto steps = static_cast<double>(p.steps);
  if (p.time == Time::explicitly) return std::pow(std::complex<double>(1 - turn * turn / 2, turn - turn * turn * turn / 6), steps);
  const double odd = p.steps % 2 == 1 ? 2 * std::atan(turn / 2) : 0;
  return std::polar(1.0, odd + (steps - (odd > 0 ? 1 : 0)) * std::atan(turn));
}
inline void against_a_seiche(State& s, Judged& judged) {
  const Params& p = s.p;
  const std::complex<double> swing = swung(p, s.dt);
  judged.box(s, s.block.cells(), [&](int field, const grid::Point<3>& g) {
    const auto i = static_cast<double>(g[2]);
    if (field == 0) return std::sqrt(gravity / p.depth()) * swing.imag() * std::sin(seiche_phase(p, i));
    return field == 1 ? 0 : p.depth() + swing.real() * std::cos(seiche_phase(p, i + 0.5));
  });
}
// What it swings by in a second, of what was seen in the end; the number of whole turns is that of the exact solution.
inline double frequency(State& s) {
  const Params& p = s.p;
  double high = 0, fast = 0;
  grid::each_cell(s.block.cells(), [&](const grid::Point<3>& c) {
    const auto i = static_cast<double>(s.block.global(c)[2]);
    high += (s.now.h[c] - p.rest(0)) * std::cos(seiche_phase(p, i + 0.5));
    fast += s.now.u[c] * std::sin(seiche_phase(p, i)) * std::sqrt(p.depth() / gravity);
  });
  high = fl::total(high), fast = fl::total(fast);
  const auto steps = static_cast<double>(p.steps);
  const double turn = std::sqrt(gravity * p.depth()) * s.dt * 2 / p.dx() * std::sin(half_waves * M_PI / (2 * static_cast<double>(p.nx)));
  const double expected = steps * std::atan(turn), seen = std::atan2(fast, high);
  return (seen + 2 * M_PI * std::round((expected - seen) / (2 * M_PI))) / (steps * s.dt);
}

// Returns the allowed error of the transport: the square of a cell over that of the western boundary layer, which is 1/20 of Stommel's
// basin wide.
inline double allowed_gyre(const Params& p) {
  const double cells = static_cast<double>(p.nx * p.nx);
  return p.problem == Problem::stommel ? 18 / cells : std::pow(p.length / std::cbrt(p.viscosity / p.beta()), 2) / (10 * cells);
}

// What the frictionless forms keep: the sum of all its changes over the sum of their amounts. Of the judge's rates, which each cell of the
// variant was checked against.
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

// The last entry of the diary against functions of the end, and how many there are.
inline void against_the_diary(State& s, Judged& judged) {
  const Params& p = s.p;
  const grid::Box<3>& own = s.block.owned;
  Replay end(s, {{own.lower[1], own.lower[2]}, {own.upper[1], own.upper[2]}}, 2);
  end.left(s.now);
  long double mass = 0;
  double whole = 0, energy = 0, enstrophy = 0;
  grid::each_cell(own, [&](const grid::Point<3>& g) {
    const auto& [k, j, i] = g;
    const double thick = end.corner_h(k, j, i);
    enstrophy += thick == 0 ? 0 : std::pow(end.vortex(k, j, i), 2) / thick / 2;
    if (!end.wet(j, i)) return;
    const double push = end.pressure(k, j, i) - (k == 0 ? 0 : end.pressure(k - 1, j, i));
    mass += end.h(k, j, i) - p.rest(k), whole += end.h(k, j, i);
    energy += end.h(k, j, i) * end.moving(k, j, i) + push * push / p.reduced(k) / 2;
  });
  const Index entries = (p.steps + p.diary - 1) / p.diary + 1;
  const auto compare = [&](const char* name, const std::vector<double>& written, double sum, double allowed) {
    const double here = sum * p.dx() * p.dy(), last = written.empty() ? 0 : written.back();
    const bool all = static_cast<Index>(written.size()) == entries;
    judged.worst().consider(all ? std::fabs(last - here) : INFINITY, allowed * p.dx() * p.dy(), [&] {
      return fl::text("%s in the last of %zu entries of the diary is %.17g, expected %.17g in %lld", name, written.size(), last, here,
                      entries);
    });
  };
  compare("mass", s.mass, static_cast<double>(mass), 1e-15 * whole);
  compare("energy", s.energy, energy, 1e-11 * energy);
  compare("enstrophy", s.enstrophy, enstrophy, 1e-11 * enstrophy);
}

// Roundings of many steps walk at random.
inline double allowed_mass(const Params& p) { return 1e-15 * std::max(1.0, std::sqrt(static_cast<double>(p.steps) / 1e4)); }

inline fl::Check check(State& s, Index last) {
  const Params& p = s.p;
  mutate_inputs(s, last);  // the judge's own words for the length of a time step and for the wind, whatever a variant left there
  Judged judged(p);
  const double mass = mass_change(s);
  judged.worst().consider(mass, allowed_mass(p), [&] { return fl::text("the mass changed by a fraction of %.3g", mass); });
  if (p.problem == Problem::jet || p.problem == Problem::geostrophic) {
    judged.as_it_began(s);
  } else if (p.problem == Problem::seiche && known(p)) {
    against_a_seiche(s, judged);
  } else if (known(p)) {
    const double error = ocean::gyre(s).error, allowed = allowed_gyre(p);
    judged.worst().consider(error, allowed, [&] { return fl::text("the error of the gyre's transport is %.3g of the maximum", error); });
  }
  if (p.diary > 0) against_the_diary(s, judged);
  if (p.iterates()) against_a_count(s, judged);
  if (p.time == Time::semi)
    against_the_equations(s, judged);
  else if (replayed(p, s.team.ranks).cells > 0)
    against_replays(s, judged);
  if (p.problem == Problem::waves && p.nx * p.ny * p.layers <= 20000) {
    const double open = left_open(s);
    judged.worst().consider(open, 1e-12, [&] { return fl::text("%.3g of the changes is not balanced", open); });
  }
  const bool last_step_only = p.time == Time::semi && !known(p) && !eliminable(p);
  const char* agreed = last_step_only ? "the last step satisfies its equations" : "all cells that were compared agree";
  return judged.worst().check(fl::text("%s; the mass changed by a fraction of %.3g", agreed, mass));
}

// Reports the diary of the whole ocean; time is in days, mass is its change.
inline void report_diary(State& s, fl::Observations& seen) {
  const auto count = static_cast<Index>(s.mass.size());
  std::vector<double> time, mass = s.mass, energy = s.energy, enstrophy = s.enstrophy;
  for (auto* sums : {&mass, &energy, &enstrophy}) fl::add_up(sums->data(), static_cast<int>(count));
  for (Index n = 0; n < count; ++n) time.push_back(static_cast<double>(std::min(n * s.p.diary, s.p.steps)) * s.dt / 86400);
  double whole = 0;
  grid::each_cell(s.block.cells(), [&](const grid::Point<3>& c) { whole += s.start.h[c] * s.p.dx() * s.p.dy(); });
  whole = fl::total(whole);
  const double first = mass.front();
  for (double& x : mass) x = (x - first) / whole;
  seen.series("time", "d", time.data(), count);
  seen.series("mass", "1", mass.data(), count);
  seen.series("energy", "m^5/s^2", energy.data(), count);
  seen.series("enstrophy", "m/s^2", enstrophy.data(), count);
}

inline void observe(State& s, fl::Observations& seen) {
  seen.value("digest", ocean::digest(s));
  seen.value("dt", s.dt);
  seen.value("frequency", s.p.problem == Problem::seiche ? frequency(s) : 0);
  std::vector<double> counts;
  for (Index m = 0; m < s.p.layers; ++m) counts.push_back(mean_iterations(s, m));
  seen.value("iterations", std::accumulate(counts.begin(), counts.end(), 0.0));
  seen.value("day_time", ocean::day_time(s.p, seen, phases));
  const ocean::Gyre found = s.p.gyre() ? ocean::gyre(s) : ocean::Gyre{};
  seen.value("gyre_error", found.error);
  seen.value("gyre_transport", found.most);
  seen.value("gyre_at", found.at);
  if (s.p.diary > 0) report_diary(s, seen);
  if (s.p.time == Time::explicitly) return;
  std::vector<double> speeds;
  for (Index m = 0; m < s.p.layers; ++m) speeds.push_back(std::sqrt(s.squared[static_cast<std::size_t>(m)]));
  seen.series("mode_speed", "m/s", speeds.data(), s.p.layers);
  if (!s.p.iterates()) return;
  seen.series("mode_iterations", "1", counts.data(), s.p.layers);
}

inline void draw(State& s, fl::Picture& picture) { ocean::draw_surface(s, picture); }

}  // namespace ocean_nlom
