// Whether a run is possible, what it begins with, and what it must leave. Compiled with the harness's own flags.
#pragma once

#include <cfloat>

#include "cfd.hpp"
#include "firstlight/error_summary.hpp"
#include "inputs.hpp"
#include "replay.hpp"

namespace cfd {

// What is left of equations in 32 bits when nothing more can be done: each face of a cell rounds what passes through it, by flow and by
// diffusion.
inline double floor_of_32_bits(const Params& p) {
  const Geometry box(p.flow, p.cells());
  const Scalars from = reference(p);
  const double eddies = p.turbulent() ? c_mu * from[turbulence] * from[turbulence] / from[dissipation] : 0;
  double through = 0;  // the faces of a cell
  for (std::size_t d = 0; d < 3; ++d)
    if (p.cells()[d] > 1) through += 2 * box.area[d] * (1 + 2 * (1 / p.reynolds + eddies) / box.spacing[d]);
  return 0.5 * FLT_EPSILON * cells_in(p) * through / box.inflow_area();
}
inline double rounding(const Params& p) { return p.bits == 32 ? floor_of_32_bits(p) : 1e-13; }

inline std::string refuse_bits(const Params& p, const Traits& traits) {
  if (p.bits == 64) return "";
  if (p.bits != 32) return "cfd computes in 32 or in 64 bits; use bits=32 or bits=64";
  if (!traits.narrow) return "this variant of cfd computes in 64 bits only; use simd, omp or mpi for bits=32";
  if (p.iterations > 0) return "";
  if (p.pressure == Method::mgcg && !p.has_outlet())  // fluxes in 32 bits do not add up to nothing, and no pressure makes them
    return "without an outlet, multigrid in 32 bits may not converge; use pressure=sip or red_black, iterations=10 or bits=64";
  const auto most = static_cast<Index>(-std::log10(floor_of_32_bits(p)));
  if (p.digits <= most) return "";
  return fl::text("in 32 bits, this number of cells allows at most %lld digits; use digits=%lld, iterations=10 or bits=64", most,
                  std::max<Index>(most, 1));
}

inline std::string refuse(const Params& p, const fl::Team& team, const Traits& traits) {
  if (const std::string why = refuse_bits(p, traits); !why.empty()) return why;
  if (const std::string why = grid::refuse(p.domain(), team.ranks); !why.empty()) return why;
  if (p.cells()[1] < 2 || p.cells()[2] < 2) return "cfd needs two cells at least along i and j; a slice has one along k";
  if (p.pressure == Method::iccg && !p.has_outlet())
    return "without an outlet the pressure is known except for a constant, which incomplete Cholesky cannot find; use pressure=mgcg, sip "
           "or red_black";
  const double a_cell = (40.0 + 55.0 * team.ranks) * sizeof(double);  // the check of each rank replays the whole grid
  return fl::lacks_memory(a_cell * cells_in(p) / team.nodes);
}

inline void init(State& s, const Params& p, const fl::Team& team, const Traits& traits) {
  s.params = p;
  s.traits = traits;
  s.team = team;
  s.block = grid::Block<3>(p.domain(), team.ranks, team.rank);
  s.box = Geometry(p.flow, p.cells());
  s.rims = rims_of(s);
  each_field(s, p, [&](Field& each) { each = Field(s.block.size(), {1, 1, 1}); });
  fl::first_touch(&s);
  restore(s);
}

inline void reset(State& s) {
  s.speed = speed_of(s.params, s.upcoming);
  s.outcome = {};
  restore(s);
  if (s.upload) s.upload();
}
inline Index mutate_between_batches(State& s, Index next) { return s.upcoming = next; }
inline void poison(State& s) {
  each_field(s, s.params, [](Field& field) { fl::poison(field.data(), field.layout().elements); });
  s.outcome = {};
  if (s.upload) s.upload();
}

// Gathers a field of the whole grid on every rank; it has the faces along d if d is given. Collective.
inline void gather(const State& s, const Field& part, Field& whole, int d = -1) {
  std::fill_n(whole.data(), whole.layout().elements, 0.0);
  grid::Box<3> mine = s.block.cells();
  if (d >= 0 && !s.block.has_neighbour(static_cast<std::size_t>(d), -1)) --mine.lower[static_cast<std::size_t>(d)];
  grid::each_cell(mine, [&](const Point& x) { whole[grid::plus<3>(x, s.block.owned.lower)] = part[x]; });
  if (s.team.ranks == 1) return;
  constexpr Index at_once = Index{1} << 24;
  for (Index first = 0; first < whole.layout().elements; first += at_once)
    fl::add_up(whole.data() + first, static_cast<int>(std::min(at_once, whole.layout().elements - first)));
}
inline void gather(const State& s, Replay& all) {
  for (std::size_t d = 0; d < 3; ++d) {
    gather(s, s.velocity[d], all.velocity[d]);
    gather(s, s.flux[d], all.flux[d], static_cast<int>(d));
  }
  gather(s, s.pressure, all.pressure);
  each_scalar(s.params, [&](std::size_t q) { gather(s, s.scalar[q], all.scalar[q]); });
}

// A velocity in the middle layer on the line along dimension d half way across the other one; as a share of the speed.
inline std::vector<double> middle_line(const State& s, const Field& velocity, std::size_t d) {
  const Point& cells = s.block.domain.extents;
  const std::size_t across = 3 - d;
  std::vector<double> line;
  for (Index n = 0; n < cells[d]; ++n) {
    Point before{cells[0] / 2, n, n}, after = before;
    before[across] = (cells[across] - 1) / 2;
    after[across] = cells[across] / 2;
    line.push_back(0.5 * (velocity[before] + velocity[after]) / s.speed);
  }
  return line;
}
// How far from the exact solution, root mean square: velocities as a share of the speed; where turbulence decays k, where fuel burns fuel, as
// a share of what enters.
inline double error_of(const State& s) {
  const Params& p = s.params;
  std::vector<double> exact;  // by cell from west to east
  const std::size_t q = p.flow == Case::decay ? turbulence : fuel;
  for (Index i = 0; p.carries() && i < s.block.size()[2]; ++i) {
    const double x = s.box.middle(s.block.global({0, 0, i}))[2];
    exact.push_back((p.flow == Case::decay ? decayed(x) : burnt(p, x))[q]);
  }
  double sum = 0;
  grid::each_cell(s.block.cells(), [&](const Point& x) {
    if (p.carries()) {
      sum += std::pow((s.scalar[q][x] / scales(s.speed)[q] - exact[static_cast<std::size_t>(x[2])]) / reference(p)[q], 2);
      return;
    }
    const Vector wake = kovasznay(p.reynolds, s.box.middle(s.block.global(x)));
    for (std::size_t d = 0; d < 3; ++d) sum += std::pow(s.velocity[d][x] / s.speed - wake[d], 2);
  });
  return std::sqrt(fl::total(sum) / cells_in(p));
}

// Where, in heights, the flow behind the step comes back to the lower wall: it flows back below the line that ends there.
inline double reattachment(const State& s, const Field& along) {
  const Point& cells = s.block.domain.extents;
  const auto at = [&](Index i) { return along[{cells[0] / 2, 0, i}]; };
  for (Index i = cells[2] - 1; i > 0; --i)
    if (at(i) > 0 && at(i - 1) <= 0) {
      const double share = at(i - 1) / (at(i - 1) - at(i));  // of the way from the middle of one cell to that of the next
      return s.box.spacing[2] * (static_cast<double>(i) - 0.5 + share);
    }
  return 0;
}

// Scalars, velocity and pressure from west to east, in the middle row and layer, as shares of what the speed makes of them.
inline void observe_line(const State& s, fl::Observations& seen) {
  const Point& cells = s.block.domain.extents;
  Field whole(cells, {1, 1, 1});
  const auto observe = [&](const Field& part, const char* name, double scale) {
    gather(s, part, whole);
    std::vector<double> line;
    for (Index i = 0; i < cells[2]; ++i) line.push_back(whole[{cells[0] / 2, cells[1] / 2, i}] / scale);
    seen.series(name, "1", line.data(), static_cast<Index>(line.size()));
  };
  observe(s.velocity[2], "velocity", s.speed);
  observe(s.pressure, "pressure", s.speed * s.speed);
  each_scalar(s.params, [&](std::size_t q) { observe(s.scalar[q], scalar_names[q], scales(s.speed)[q]); });
}

inline void observe(State& s, fl::Observations& seen) {
  if (s.download) s.download();
  const auto taken = static_cast<Index>(s.outcome.history.size());
  seen.value("iterations", static_cast<double>(taken));
  std::vector<double> momentum, mass, scalar;
  for (const Left& left : s.outcome.history) {
    if (!left.sound()) break;
    momentum.push_back(left.largest_momentum());
    mass.push_back(left.mass);
    scalar.push_back(left.largest_scalar());
  }
  seen.series("momentum_left", "1", momentum.data(), static_cast<Index>(momentum.size()));
  seen.series("mass_left", "1", mass.data(), static_cast<Index>(mass.size()));
  if (s.params.carries()) seen.series("scalars_left", "1", scalar.data(), static_cast<Index>(scalar.size()));
  const bool sound = taken > 0 && s.outcome.history.back().sound();
  if (s.params.carries() && sound) observe_line(s, seen);
  if (s.params.is_known()) seen.value("error", sound ? error_of(s) : DBL_MAX);
  if ((s.params.flow != Case::cavity && s.params.flow != Case::step) || !sound) return;
  Field velocity(s.block.domain.extents, {1, 1, 1});
  gather(s, s.velocity[2], velocity);
  if (s.params.flow == Case::step) return seen.value("reattachment", reattachment(s, velocity));
  const auto observe = [&](const char* name, std::size_t d) {
    const std::vector<double> line = middle_line(s, velocity, d);
    seen.series(name, "1", line.data(), static_cast<Index>(line.size()));
  };
  observe("middle_line", 1);  // along the lid, from south to north
  gather(s, s.velocity[1], velocity);
  observe("middle_row", 2);  // and upwards, from west to east
}

// The layer in the middle of a run to the end: how hot it is where fuel burns, elsewhere how fast along the flow.
inline void draw(State& s, fl::Picture& picture) {
  const Params& p = s.params;
  if (s.download) s.download();
  if (p.iterations > 0 || s.outcome.history.empty() || !s.outcome.history.back().sound()) return;
  const Point& cells = s.block.domain.extents;
  picture.of(p.reacting() ? "temperature" : "velocity", "", cells[1], cells[2]);
  const grid::Box<3> mine = s.block.cells();
  const Index k = cells[0] / 2 - s.block.owned.lower[0];
  if (k < 0 || k >= mine.upper[0]) return;
  std::vector<double> row(static_cast<std::size_t>(mine.upper[2]));
  for (Index j = 0; j < mine.upper[1]; ++j) {
    for (Index i = 0; i < mine.upper[2]; ++i) {
      const Point x{k, j, i};
      row[static_cast<std::size_t>(i)] = p.reacting() ? s.scalar[enthalpy][x] - p.heat * s.scalar[fuel][x] : s.velocity[2][x] / s.speed;
    }
    const Point at = s.block.global({k, j, 0});
    picture.row(at[1], at[2], row.data(), mine.upper[2]);
  }
}

inline const char* name_of(std::size_t d) {
  constexpr const char* names[] = {"w", "v", "u"};
  return names[d];
}

// Why a run stopped that should not have, or did not stop.
inline std::string defect(const State& s) {
  const auto& history = s.outcome.history;
  const auto taken = static_cast<Index>(history.size());
  if (taken == 0) return "no iteration was executed";
  if (!history.back().sound()) {
    const double voids = history.back().voids;
    const std::string what = voids > 0 ? fl::text("cells without a positive density in iteration %lld: %.0f", taken, voids)
                                       : fl::text("the flow diverged in iteration %lld", taken);
    const char* advice = voids > 0 ? "use less heat, smaller relax or smaller central" : "use smaller relax and relax_pressure";
    if (taken == 1) return what + ", the first; " + advice;
    const Left& good = history[static_cast<std::size_t>(taken - 2)];
    return what + fl::text(" (previous residuals, relative to the flow: momentum %.3g, mass %.3g); ", good.largest_momentum(), good.mass) +
           advice;
  }
  if (s.params.iterations > 0 && taken != s.params.iterations)
    return fl::text("%lld iterations were executed, but %lld were requested", taken, s.params.iterations);
  if (s.params.iterations == 0 && taken == most_iterations)
    return fl::text("after %lld iterations, the residual is %.3g of the flow", taken, history.back().largest());
  return "";
}

// Returns the tolerance relative to the largest value of a field. Where conjugate gradients also find what changes slowly across the whole
// box, rounding is multiplied by the condition of the pressure's matrix. Factors of 32 bits round each flop of a sweep to 32; the next
// sweep sees what is left in 64. If all is in 32 bits, each flop of each iteration is rounded.
inline double tolerance(const State& s) {
  const Params& p = s.params;
  if (s.traits.mixed) return 28 * FLT_EPSILON;
  double faces = 0, slowest = DBL_MAX;
  for (std::size_t d = 0; d < 3; ++d) {
    const auto cells = static_cast<double>(s.block.domain.extents[d]);
    if (cells == 1) continue;
    const double conductance = s.box.area[d] / s.box.spacing[d];
    faces += conductance;
    slowest = std::min(slowest, conductance / (cells * cells));
  }
  const double condition = p.pressure_share() > 0 ? faces / slowest : 0;
  if (p.bits == 32)
    return FLT_EPSILON * (condition + static_cast<double>(p.iterations) * work_of(p, p.cells()[0] > 1 ? 3 : 2, s.traits).flops);
  return std::max(1e-11, 100 * DBL_EPSILON * condition);
}

// By how much a pressure that is known except for a constant is higher in the mean. Rounding to 32 bits moves it.
inline double raised(const State& s, const Field& is, const Field& should) {
  if (s.params.bits == 64 || s.params.has_outlet()) return 0;
  double sum = 0;
  grid::each_cell(s.block.cells(), [&](const Point& x) { sum += is[x] - should[grid::plus<3>(x, s.block.owned.lower)]; });
  return fl::total(sum) / cells_in(s.params);
}

inline void compare(const State& s, Replay& right, fl::WorstError& worst) {
  const double allowed = tolerance(s);
  const std::vector<Left>&found = s.outcome.history, &wanted = right.run().history;
  for (std::size_t n = 0; n < std::min(found.size(), wanted.size()); ++n) {
    const auto hold = [&](double is, double should, const char* what) {
      worst.consider(std::fabs(is - should), 100 * allowed * should + rounding(s.params),
                     [&] { return fl::text("in iteration %zu, the residual is %.9g for %s, should be %.9g", n + 1, is, what, should); });
    };
    for (std::size_t d = 0; d < 3; ++d) hold(found[n].momentum[d], wanted[n].momentum[d], "the momentum");
    hold(found[n].mass, wanted[n].mass, "the mass");
    hold(found[n].voids, wanted[n].voids, "cells without density");
    for (std::size_t q = 0; q < scalars; ++q) hold(found[n].scalar[q], wanted[n].scalar[q], scalar_names[q]);
  }
  const auto hold = [&](const Field& is, const Field& should, const grid::Box<3>& mine, const char* what, double raised = 0) {
    double largest = 0;
    for (Index at = 0; at < should.layout().elements; ++at) largest = std::max(largest, std::fabs(should.data()[at]));
    if (largest == 0) largest = DBL_MIN;
    grid::each_cell(mine, [&](const Point& x) {
      const Point at = grid::plus<3>(x, s.block.owned.lower);
      const double error = std::fabs(is[x] - raised - should[at]);
      if (worst.exceeded_by(error, allowed * largest))
        worst.consider(error, allowed * largest, [&] {
          return fl::text("%s at (%lld, %lld, %lld) is %.9g, should be %.9g", what, at[0], at[1], at[2], is[x], should[at]);
        });
    });
  };
  for (std::size_t d = 0; d < 3; ++d) {
    grid::Box<3> faces = s.block.cells();
    --faces.lower[d];
    hold(s.velocity[d], right.velocity[d], s.block.cells(), name_of(d));
    hold(s.flux[d], right.flux[d], faces, "a flux");
  }
  hold(s.pressure, right.pressure, s.block.cells(), "the pressure", raised(s, s.pressure, right.pressure));
  each_scalar(s.params, [&](std::size_t q) { hold(s.scalar[q], right.scalar[q], s.block.cells(), scalar_names[q]); });
}

inline fl::Check check(State& s, Index) {
  if (s.download) s.download();
  if (const std::string why = defect(s); !why.empty()) return fl::Check::of(INFINITY, 0, why);
  Replay right(s);
  fl::WorstError worst;
  if (s.params.iterations > 0) {
    compare(s, right, worst);
    return worst.check(fl::text("velocities, pressure, fluxes and scalars agree in all cells after %lld iterations", s.params.iterations));
  }
  gather(s, right);
  const Left left = right.left();
  const double flux_error = right.flux_error(), limit = 2 * std::pow(10.0, -static_cast<double>(s.params.digits)) + rounding(s.params);
  for (std::size_t d = 0; d < 3; ++d)
    worst.consider(left.momentum[d], limit,
                   [&] { return fl::text("the residual of the equations of %s is %.3g", name_of(d), left.momentum[d]); });
  worst.consider(left.voids, 0.5, [&] { return fl::text("cells without a positive density: %.0f", left.voids); });
  worst.consider(left.mass, limit, [&] { return fl::text("cells gain or lose a fraction of %.3g of the mass flow", left.mass); });
  for (std::size_t q = 0; q < scalars; ++q)
    worst.consider(left.scalar[q], limit,
                   [&] { return fl::text("the residual of the equation of %s is %.3g", scalar_names[q], left.scalar[q]); });
  worst.consider(flux_error, 100 * limit, [&] { return fl::text("fluxes differ from the fluxes of the velocities by %.3g", flux_error); });
  return worst.check(fl::text("after %zu iterations, the largest relative residual is %.2g", s.outcome.history.size(), left.largest()));
}

}  // namespace cfd
