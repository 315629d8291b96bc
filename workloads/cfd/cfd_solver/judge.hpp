// Whether a run is possible, what it begins with, and what it must leave. Compiled with the harness's own flags.
#pragma once

#include <cfloat>

#include "cfd_solver.hpp"
#include "firstlight/error_summary.hpp"
#include "inputs.hpp"
#include "replay.hpp"

namespace cfd_solver {

// The largest eigenvalue over the least of Poisson's equation on these cells; the other matrices' is like it.
inline double condition(const Params& p) {
  const cfd::Coupling coupling = p.equation().coupling();
  double least = 0, most = 0;
  for (std::size_t d = 0; d < 3; ++d) {
    least += coupling[d] * (2 - 2 * std::cos(M_PI / static_cast<double>(p.cells()[d])));
    most += 4 * coupling[d];
  }
  return most / least;
}
// The share of x, and of the first residual, that rounding to 32 bits may change: that of a cell's own sums, and what the matrix makes of
// it.
inline double floor_of_32_bits(const Params& p) { return 0.5 * FLT_EPSILON * (16 + condition(p)); }

inline std::string refuse_bits(const Params& p, const Traits& traits) {
  if (p.bits == 64) return "";
  if (p.bits != 32) return "cfd_solver computes in 32 or in 64 bits; use bits=32 or bits=64";
  if (!traits.narrow) return "this variant of cfd_solver computes in 64 bits only; use simd, ordered, omp or mpi for bits=32";
  const auto most = static_cast<Index>(-std::log10(floor_of_32_bits(p)));
  if (p.sweeps > 0 || p.digits <= most) return "";
  return fl::text("in 32 bits, this number of cells allows at most %lld digits; use digits=%lld, sweeps=10 or bits=64", most,
                  std::max<Index>(most, 1));
}

inline std::string refuse(const Params& p, const fl::Team& team, const Traits& traits) {
  if (const std::string why = refuse_bits(p, traits); !why.empty()) return why;
  if (const std::string why = grid::refuse(p.domain(), team.ranks); !why.empty()) return why;
  if (p.kernel != Kernel::sip && p.kernel != Kernel::red_black && !symmetric(p.problem))
    return "conjugate gradients and multigrid of cfd_solver need a symmetric matrix; use problem=poisson or problem=diffusion";
  const double a_cell = (20.0 + 18.0 * team.ranks) * sizeof(double);  // the check of each rank replays the whole grid
  return fl::lacks_memory(a_cell * cells_in(p) / team.nodes);
}

inline void init(State& s, const Params& p, const fl::Team& team, const Traits& traits) {
  s.params = p;
  s.traits = traits;
  s.team = team;
  s.block = grid::Block<3>(p.domain(), team.ranks, team.rank);
  const auto field = [&] { return Field(s.block.size(), {1, 1, 1}); };
  for (Field& a : s.system.a) a = field();
  s.system.b = field();
  s.x = field();
  s.changing = fl::InputMutator(static_cast<Index>(cells_in(p)), fl::InputMutator::most, true);
  fl::first_touch(&s);
  fill_matrix(s);
}

inline void reset(State& s) {
  s.changing.mutate_inputs(s.upcoming, [&](Index number) { put_diagonal(s, number, s.upcoming); });
  restore(s, factor(s.upcoming));
  s.outcome = {};
  if (s.upload) s.upload();
}
inline Index mutate_between_batches(State& s, Index next) {
  s.upcoming = s.changing.mutate_between_batches(
      next, [&](Index iteration) { s.changing.mutate_inputs(iteration, [&](Index number) { put_diagonal(s, number, iteration); }); });
  return s.upcoming;
}
inline void poison(State& s) {
  fl::poison(s.x.data(), s.x.layout().elements);
  s.outcome = {};
  if (s.upload) s.upload();
}

// Once a case, and outside of its time: a run of the inputs as they were before anything changed, and the last one again.
inline void run_unchanged(State& s) {
  const Index last = s.upcoming - 1;
  const fl::ChangeLog ages(s.changing, last);
  const auto run = [&](double scale, bool changed) {
    for (const auto& [number, iteration] : ages.all()) put_diagonal(s, number, changed ? iteration : -1);
    restore(s, scale);
    s.outcome = {};
    if (s.upload) s.upload();
    fl::run_steps(last, 1);
    return s.outcome;
  };
  s.unchanged = run(1, false).history;
  run(factor(last), true);
}

inline void observe(State& s, fl::Observations& seen) {
  if (s.unchanged.empty()) run_unchanged(s);
  const Index looked_at = static_cast<Index>(s.unchanged.size());
  const Index iterations = s.params.sweeps > 0 ? s.params.sweeps : looked_at - 1;
  std::vector<double> shares;
  for (const double norm : s.unchanged) shares.push_back(norm / s.unchanged.front());
  seen.value("iterations", static_cast<double>(iterations));
  seen.value("iteration_time", seen.seconds(phases("sweep")) / static_cast<double>(std::max<Index>(s.outcome.iterations, 1)));
  seen.series("residual", "1", shares.data(), looked_at);
}

// Returns the sum of |b - A x| over all cells, of x as the variant left it. Collective; it evaluates one cell at a time by its place.
inline double residual_of(State& s, const fl::ChangeLog& ages, double scale) {
  const Point& extents = s.block.domain.extents;
  std::vector<double> whole(static_cast<std::size_t>(cells_in(s.params)));
  const auto number = [&](const Point& x) { return static_cast<std::size_t>(s.block.number(x)); };
  grid::each_cell(s.block.cells(), [&](const Point& x) { whole[number(s.block.global(x))] = s.x[x]; });
  if (s.team.ranks > 1) {
    constexpr std::size_t at_once = std::size_t{1} << 24;
    for (std::size_t first = 0; first < whole.size(); first += at_once)
      fl::add_up(whole.data() + first, static_cast<int>(std::min(at_once, whole.size() - first)));
  }
  double sum = 0;
  grid::each_cell(s.block.owned, [&](const Point& x) {
    cfd::Coefficients a = cfd::coefficients(s.params.equation(), extents, x);
    if (const Index changed = ages.of(static_cast<Index>(number(x)), -1); changed >= 0) a[cfd::P] = diagonal(a[cfd::P], changed);
    double rest = scale * cfd::source(number(x)) - a[cfd::P] * whole[number(x)];
    for (std::size_t place = cfd::W; place <= cfd::T; ++place) {
      if (a[place] == 0) continue;
      Point other = x;
      other[cfd::side_of(place).d] += cfd::side_of(place).step;
      rest -= a[place] * whole[number(other)];
    }
    sum += std::fabs(rest);
  });
  return fl::total(sum);
}

// How far a variant's numbers may be from a plain solver's, as shares: x of its largest value, a residual of itself and `rest` of the first
// one.
struct Allowed {
  double x, history, rest = 1e-13;
  Index iterations_apart;

  Allowed(const Params& p, const Traits& traits)
      : x(traits.tolerance), history(traits.history_tolerance), iterations_apart(traits.iterations_apart) {
    if (p.bits == 64) return;
    x = rest = floor_of_32_bits(p);
    history = 1e-4;
    iterations_apart = 2;
  }
};

inline fl::Check check(State& s, Index last) {
  if (s.download) s.download();
  const Params& p = s.params;
  const fl::ChangeLog ages(s.changing, last);
  const double scale = factor(last);
  const Replay right(s, ages, scale);
  const std::vector<double>&found = s.outcome.history, &wanted = right.outcome().history;
  const Index apart = std::abs(s.outcome.iterations - right.outcome().iterations);
  const Allowed allowed(p, s.traits);
  if (!(apart <= allowed.iterations_apart) || static_cast<Index>(found.size()) - s.outcome.iterations != (p.sweeps > 0 ? 0 : 1))
    return fl::Check::of(INFINITY, 0,
                         fl::text("%lld iterations and %zu residuals, but a plain solver needs %lld and %zu", s.outcome.iterations,
                                  found.size(), right.outcome().iterations, wanted.size()));
  fl::WorstError worst;
  for (std::size_t n = 0; n < std::min(found.size(), wanted.size()); ++n)
    worst.consider(std::fabs(found[n] - wanted[n]), allowed.history * wanted[n] + allowed.rest * wanted.front(),
                   [&] { return fl::text("the residual after %zu iterations is %.9g, should be %.9g", n, found[n], wanted[n]); });
  // Where one of them took an iteration more, x differs by what that changes.
  const double allowed_x = (allowed.x + (apart > 0 ? 100 * std::pow(10.0, -static_cast<double>(p.digits)) : 0)) * right.largest();
  grid::each_cell(s.block.cells(), [&](const Point& cell) {
    const Point at = s.block.global(cell);
    const double error = std::fabs(s.x[cell] - right.x(at));
    if (worst.exceeded_by(error, allowed_x))
      worst.consider(error, allowed_x, [&] {
        return fl::text("x at (%lld, %lld, %lld) is %.9g, should be %.9g", at[0], at[1], at[2], s.x[cell], right.x(at));
      });
  });
  const double share = residual_of(s, ages, scale) / wanted.front();
  const double allowed_share = p.sweeps > 0 ? INFINITY : 1.001 * std::pow(10.0, -static_cast<double>(p.digits)) + allowed.rest;
  if (!(share <= allowed_share) && worst.share() <= 1)
    return fl::Check::of(share, allowed_share,
                         fl::text("after %lld iterations |b - A x| is %.4g of |b|%s", s.outcome.iterations, share,
                                  p.kernel == Kernel::sip && share > 1 ? ": Stone's solver diverges here; use a smaller alpha" : ""));
  return worst.check(fl::text("x agrees in all cells; after %lld iterations |b - A x| is %.4g of |b|", s.outcome.iterations, share));
}

}  // namespace cfd_solver
