// dirac_solver: D x = b of lattice QCD by even-odd preconditioning and a Krylov solver. One step is one solution, from b to x on the
// whole lattice, of which every process has a block.
//
// The gauge field is random and b is psi of the reference numbers, times a factor that changes with the step: it scales every
// number of a solution.
#pragma once

#include "../geometry.hpp"
#include "../tabled.hpp"

namespace dirac_solver {

using lqcd::Extents;
using lqcd::Layout;
using lqcd::Traits;

inline constexpr fl::Index most_iterations = 100000;

enum class Method { cg, bicgstab, mixed_cg, mixed_bicgstab };  // in the order of their names below

struct Params : lqcd::Geometry {
  fl::Index mass = 100, digits = 8;
  Method method = Method::cg;
  void declare(fl::Fields& fields) {
    declare_extents(fields);
    fields.integer("mass", mass, "1/1000", -3000, 100000, "bare mass m0 in thousandths; smaller is harder");
    fields.integer("digits", digits, "digits", 1, 12, "stop when the residual of Dhat x = b has fallen by this number of powers of ten");
    fields.choice("method", method, "cg|bicgstab|mixed_cg|mixed_bicgstab",
                  "conjugate gradients on the normal equations, or BiCGStab; mixed: iterations in 32 bits, residuals in 64");
    declare_boundary(fields);
    declare_processes(fields);
  }
};

inline bool mixed(Method m) { return m == Method::mixed_cg || m == Method::mixed_bicgstab; }

struct Outcome {
  fl::Index iterations = 0, updates = 0;  // updates: of the residual, in 64 bits
  double residual = 0;                    // |b - Dhat x| / |b| as the solver computes it
};

inline constexpr fl::Phases phases{"iterations"};

struct State {
  fl::Team team;
  Method method = Method::cg;
  fl::Index digits = 8;
  double mass = 0, scale = 1;
  Layout layout, layout32;
  lqcd::TabledFields given;
  fl::Array<double> links, b, x;
  fl::Array<float> links32;
  Outcome outcome;
};

inline constexpr fl::About about{
    .title = "Wilson-Dirac solver",
    .cost = "An iteration is two applications of Dhat with 1356 flop per site each, and the linear algebra of the method.",
    .verified = "b - D x on every site, computed with dense gamma matrices in 64 bit; the number of iterations on 4^4 and 8^4",
    .tolerance = "The requested reduction of |b_e - H b_o / (4 + m0)|; iterations within one of the reference",
    .phases = phases,
};

inline constexpr fl::Metric metrics[] = {
    {"time_to_solution", "s", "operations", "time", 1, "lower"}, {"time_per_iteration", "us", "time_per_iteration", "value", 1e6, "lower"},
    {"speed", "Mflop/s", "speed", "value", 1e-6, "higher"},      {"iterations", "iterations", "iterations", "value", 1, "lower"},
    {"residual", "1", "residual", "value", 1, "lower"},
};

inline std::string refuse(const Params& p, const fl::Team& team, const Traits& traits) {
  return lqcd::refuse("dirac_solver", p, team, traits, mixed(p.method) ? 32 : 64);
}

inline fl::Cost cost(const Params& p, const fl::Team& team) {
  const auto sites = static_cast<double>(lqcd::product(p.global()));
  return {.operations = 1, .working_set = 8 * (72 + 4 * 12) * sites / team.ranks};
}

inline void init(State& s, const Params& p, const fl::Team& team, const Traits& traits) {
  s.team = team;
  s.method = p.method;
  s.digits = p.digits;
  s.mass = static_cast<double>(p.mass) / 1000;
  const lqcd::Lattice block = p.block(team);
  s.layout = Layout(block, traits.lanes(64));
  s.layout32 = mixed(s.method) ? Layout(block, traits.lanes(32)) : Layout();
  s.given = lqcd::tabled(block, p.antiperiodic(),
                         [&](const Extents& x, std::size_t mu) { return lqcd::link(lqcd::number(x, block.global), mu); });
  s.links = fl::Array<double>(s.layout.links_size());
  s.b = fl::Array<double>(s.layout.spinor_size());
  s.x = fl::Array<double>(s.layout.spinor_size());
  s.links32 = fl::Array<float>(mixed(s.method) ? s.layout32.links_size() : 0);
  fl::first_touch(&s);
  lqcd::fill_links(s.links.data(), s.layout, s.given);
  if (mixed(s.method)) lqcd::fill_links(s.links32.data(), s.layout32, s.given);
  lqcd::fill_spinor(s.b.data(), s.layout, s.given);
  s.given.changed = lqcd::ChangedSites(s.layout, s.given, lqcd::Change::little, false);
}

// In place, b is the same up to the factor; and at some sites, which no step can predict, up to another one.
inline void mutate_inputs(State& s, fl::Index iteration) {
  s.scale = fl::step_factor(iteration);
  s.given.changed.mutate_inputs(s.b.data(), s.layout, iteration);
}
inline fl::Index mutate_between_batches(State& s, fl::Index next) {
  return s.given.changed.mutate_between_batches(s.b.data(), s.layout, next);
}

inline void poison(State& s) {
  fl::poison(s.x.data(), s.x.size());
  s.outcome = {};
}

inline void observe(State& s, fl::Observations& seen) {
  const Outcome& o = s.outcome;
  const auto iterations = static_cast<double>(o.iterations), sites = static_cast<double>(lqcd::product(s.given.global));
  const double flops =
      2 * 1356 * sites * iterations / (static_cast<double>(s.team.ranks) * s.team.threads);  // of the operator alone, a core
  const double seconds = seen.seconds(phases("iterations"));
  seen.value("iterations", iterations);
  seen.value("residual", o.residual);
  seen.value("updates", static_cast<double>(o.updates));
  seen.value("time_per_iteration", iterations > 0 ? seconds / iterations : 0);
  seen.value("speed", seconds > 0 ? flops / seconds : 0);
}

}  // namespace dirac_solver

#ifdef FL_JUDGE
#include "judge.hpp"
#endif
