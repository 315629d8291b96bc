// dirac_overlap: the overlap operator of lattice QCD, which obeys the Ginsparg-Wilson relation g5 D + D g5 = 2 D g5 D. One step is one
// application: a rational approximation of the sign of H = g5 D(-rho), all of its poles solved for at once. Every process has a block
// of the lattice.
//
// The gauge field is one whose H has a gap. psi is that of the reference numbers except for some sites, which no step can predict, where it
// changes with the step; the result is multiplied by a factor that changes with it, too.
#pragma once

#include "../geometry.hpp"
#include "gauge.hpp"

namespace dirac_overlap {

using lqcd::Extents;
using lqcd::Layout;
using lqcd::Traits;

struct Params : lqcd::Geometry {
  fl::Index poles = 16, digits = 12, rho = 1000;
  std::string field = "smooth";
  void declare(fl::Fields& fields) {
    declare_extents(fields);
    fields.integer("poles", poles, "poles", 2, 64, "poles of the rational approximation of the sign function");
    fields.integer("digits", digits, "digits", 4, 15, "stop when every residual has fallen by this number of powers of ten");
    fields.integer("rho", rho, "1/1000", 200, 1800, "minus the bare mass in thousandths");
    fields.choice("field", field, "smooth|flux", "links near one, or a constant flux through (t, x) and (y, z) planes");
    declare_boundary(fields);
    declare_processes(fields);
  }
};

struct Outcome {
  fl::Index iterations = 0;
  double violation = 0;  // |(g5 D + D g5 - 2 D g5 D) psi| / |psi|, as the last check found it
};

inline constexpr fl::Phases phases{"application"};

struct State {
  fl::Team team;
  fl::Index digits = 12;
  int poles = 16;
  double rho = 1, scale = 1;
  double least = 0, most = 0;  // |eigenvalues of H|
  Layout layout;
  lqcd::TabledFields given;
  fl::Array<double> links, psi, out;
  Outcome outcome;
};

inline constexpr fl::About about{
    .title = "Overlap operator",
    .cost = "An iteration is two applications of D with 1392 flop per site each, and 192 flop per site and pole.",
    .verified =
        "A second application of sign(H), by plain loops that agree with dense gamma matrices, must return psi (Ginsparg-Wilson "
        "relation).",
    .tolerance = "Twice the error of the rational approximation, plus the effect of the requested residuals",
    .phases = phases,
};

inline constexpr fl::Metric metrics[] = {
    {"time", "s", "operations", "time", 1, "lower"},
    {"time_per_iteration", "us", "time_per_iteration", "value", 1e6, "lower"},
    {"iterations", "iterations", "iterations", "value", 1, "lower"},
    {"violation", "1", "violation", "value", 1, "lower"},
};

inline std::string refuse(const Params& p, const fl::Team& team, const Traits& traits) {
  return lqcd::refuse("dirac_overlap", p, team, traits, 64);
}

inline fl::Cost cost(const Params& p, const fl::Team& team) {
  const auto sites = static_cast<double>(lqcd::product(p.global()));
  return {.operations = 1, .working_set = 8 * (72 + 24 * (6 + static_cast<double>(p.poles))) * sites / team.ranks};
}

// Defined by the judge: Lanczos is not a part of the step. Collective.
void find_bounds(State& s);

inline void init(State& s, const Params& p, const fl::Team& team, const Traits& traits) {
  s.team = team;
  s.digits = p.digits;
  s.poles = static_cast<int>(p.poles);
  s.rho = static_cast<double>(p.rho) / 1000;
  s.layout = Layout(p.block(team), traits.lanes(64));
  const bool flux = p.field == "flux";
  s.given = lqcd::tabled(p.block(team), p.antiperiodic(), [&](const Extents& x, std::size_t mu) {
    return flux ? lqcd::flux_link(x, mu, p.global(), 1) : lqcd::smooth_link(lqcd::number(x, p.global()), mu, 0.5);
  });
  s.links = fl::Array<double>(s.layout.links_size());
  s.psi = fl::Array<double>(s.layout.spinor_size());
  s.out = fl::Array<double>(s.layout.spinor_size());
  fl::first_touch(&s);
  lqcd::fill_links(s.links.data(), s.layout, s.given);
  lqcd::fill_spinor(s.psi.data(), s.layout, s.given);
  find_bounds(s);
  s.given.changed = lqcd::ChangedSites(s.layout, s.given, lqcd::Change::little, false);
}

inline void mutate_inputs(State& s, fl::Index iteration) {
  s.scale = fl::step_factor(iteration);
  s.given.changed.mutate_inputs(s.psi.data(), s.layout, iteration);
}
inline fl::Index mutate_between_batches(State& s, fl::Index next) {
  return s.given.changed.mutate_between_batches(s.psi.data(), s.layout, next);
}

inline void poison(State& s) {
  fl::poison(s.out.data(), s.out.size());
  s.outcome.iterations = 0;
}

inline void observe(State& s, fl::Observations& seen) {
  const auto iterations = static_cast<double>(s.outcome.iterations);
  seen.value("iterations", iterations);
  seen.value("time_per_iteration", iterations > 0 ? seen.seconds(phases("application")) / iterations : 0);
  seen.value("violation", s.outcome.violation);
  seen.value("condition", s.most / s.least);
}

}  // namespace dirac_overlap

#ifdef FL_JUDGE
#include "judge.hpp"
#endif
