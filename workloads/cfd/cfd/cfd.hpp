// cfd: a flow through a box by finite volumes (R2's application). One step is a run from the same start: so many iterations, or until what
// is left of the equations is small.
#pragma once

#include "state.hpp"

namespace cfd::inline FL_ROLE {

inline constexpr fl::Phases phases{"momentum", "momentum_solver", "scalars", "scalar_solver", "pressure", "pressure_solver", "halo", "sum"};
inline constexpr fl::About about{
    .title = "Flow by finite volumes",
    .cost =
        "a cell and iteration: for each velocity that moves 81 flop and 200 bytes beside its solver, for the pressure correction 93 and "
        "384; for each scalar that changes 100 and 200; "
        "red-black 13 and 160 a sweep, Stone's 28 and 168, and 33 and 112 for its factors, conjugate gradients 39 and 248",
    .verified =
        "velocities, pressure, fluxes and scalars in every cell and what was left in each iteration against a plain program that goes by "
        "faces; "
        "after a "
        "run to the end that nothing is left of the equations, by faces",
    .tolerance = "1e-11 of the largest velocity, pressure, flux and scalar; what was left 1e-9; at the end twice what was asked for",
    .phases = phases,
};
inline constexpr fl::Metric metrics[] = {
    {"iteration_time", "ms", "elements", "time", 1e3, "lower"},
    {"time", "s", "operations", "time", 1, "lower"},
    {"rate", "Gflop/s", "flops", "rate", 1e-9, "higher"},
    {"iterations", "iterations", "iterations", "value", 1, "lower"},
    {"reattachment", "heights", "reattachment", "value", 1, "lower"},  // behind the step
};

// What a variant does otherwise than the rest.
struct Traits {
  bool colours_together = false;  // red-black: both in one pass through memory
};

// Per cell, of one iteration.
struct Work {
  double flops = 0, words = 0;
};
inline Work work_of(const Params& p, double moving, const Traits& traits) {
  const auto sweeps = static_cast<double>(p.sweeps), corrections = static_cast<double>(p.pressure_sweeps);
  const double colours = traits.colours_together ? 10 : 20;
  const Work velocity{69 + 7 + 5 + 13 * sweeps, 12 + 7 + 6 + colours * sweeps};
  const Work pressure = p.pressure == Method::sip    ? Work{33 + 28 * corrections, 14 + 21 * corrections}
                        : p.pressure == Method::iccg ? Work{12 + 39 * corrections, 13 + 31 * corrections}
                                                     : Work{13 * corrections, colours * corrections};
  const auto solved = static_cast<double>(p.solved());
  const Work scalar{87 + 12 + 2 + 13 * sweeps, 13 + 9 + 1 + 3 + colours * sweeps};
  const double strain = p.turbulent() ? 1 : 0, properties = p.carries() ? 1 : 0;
  return {moving * velocity.flops + solved * scalar.flops + strain * 33 + properties * 4 + (p.reacting() ? 21 : 0) + 21 + 37 + 18 + 15 + 2 +
              pressure.flops,
          moving * velocity.words + solved * scalar.words + strain * 5 + properties * 3 + (p.reacting() ? 4 : 0) + 10 + 15 + 10 + 10 + 3 +
              pressure.words};
}

inline double cells_in(const Params& p) {
  double all = 1;
  for (const Index n : p.cells()) all *= static_cast<double>(n);
  return all;
}

// How many iterations a run to the end needs nobody knows before: it has a time and no rate.
inline fl::Cost cost(const Params& p, const fl::Team& team, const Traits& traits) {
  const double cells = cells_in(p), kept = (7 + 8 + 6 + 8 + (p.carries() ? 4 : 0) + (p.reacting() ? 4 : 0)) * sizeof(double);
  fl::Cost c{.operations = 1, .working_set = kept * cells / team.ranks};
  if (p.iterations == 0) return c;
  const auto iterations = static_cast<double>(p.iterations);
  const Work work = work_of(p, p.cells()[0] > 1 ? 3 : 2, traits);
  c.elements = iterations;
  c.flops = work.flops * cells * iterations;
  c.bytes = work.words * sizeof(double) * cells * iterations;
  return c;
}

inline void touch(State& s, Index iteration) { s.upcoming = iteration + 1; }

}  // namespace cfd::inline FL_ROLE

#ifdef FL_JUDGE
#include "judge.hpp"
#endif
