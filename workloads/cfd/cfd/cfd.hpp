// cfd: a flow through a box by finite volumes (R2's application). One step is a run from the same start: so many iterations, or until what
// is left of the equations is small.
#pragma once

#include "../multigrid_work.hpp"
#include "state.hpp"

namespace cfd {

inline constexpr fl::Phases phases{"momentum", "momentum_solver", "scalars", "scalar_solver", "pressure", "pressure_solver", "halo", "sum"};
inline constexpr fl::About about{
    .title = "Flow with finite volumes",
    .cost =
        "Flop and bytes per cell and iteration: 81 and 200 for each velocity that moves, 93 and 384 for the pressure correction, 100 "
        "and 200 for each scalar that changes. Solvers in addition, per sweep: red-black 13 and 160; Stone's 28 and 168, and 33 and "
        "112 for its factors; conjugate gradients 39 and 248, with multigrid 82 and 463. Indices of six neighbours count 24 bytes per"
        " read.",
    .verified =
        "Velocities, pressure, fluxes and scalars in every cell, and the residuals of each iteration, compared with a plain program "
        "that works face by face. A run to the end must satisfy the equations at every face.",
    .tolerance =
        "1e-11 of the largest velocity, pressure, flux and scalar; with conjugate gradients at least 100 eps times the condition of "
        "the pressure matrix; with factors in 32 bit 28 eps. All in 32 bit: one eps per flop of a cell in all iterations, times that "
        "condition with conjugate gradients. Residuals: a hundred times that, and at the end twice the requested ones.",
    .phases = phases,
};
inline constexpr fl::Metric metrics[] = {
    {"iteration_time", "ms", "elements", "time", 1e3, "lower"},
    {"time", "s", "operations", "time", 1, "lower"},
    {"rate", "Gflop/s", "flops", "rate", 1e-9, "higher"},
    {"iterations", "iterations", "iterations", "value", 1, "lower"},
    {"reattachment", "heights", "reattachment", "value", 1, "lower"},  // behind the step
};

// Per cell: so many sweeps of the pressure correction's solver.
inline CellWork pressure_work(const Params& p, const Traits& traits) {
  const double colours = traits.colours_together ? 10 : 20, numbers = traits.indirect ? 3 : 0;
  const auto sweeps = static_cast<double>(p.pressure_sweeps);
  const auto of = [&](const CellWork& once, const CellWork& each) {
    return CellWork{once.flops + each.flops * sweeps, once.words + each.words * sweeps};
  };
  switch (p.pressure) {
    case Method::sip:
      return traits.mixed ? of({33, 10.5}, {28, 16}) : of({33, 14}, {28, 21 + 1.5 * numbers});
    case Method::red_black:
      return of({}, {13, colours + 2 * numbers});
    case Method::iccg:
      return of({12, 13}, {39, 31 + 2 * numbers});
    case Method::mgcg: {
      const Coupling coupling = Geometry(p.flow, p.cells()).coupling();
      return of(matrices_work(p.cells(), coupling), cycle_work(p.cells(), coupling, true));
    }
  }
  return {};
}
// And of one iteration. Six numbers of neighbours are three words, wherever they are read.
inline CellWork work_of(const Params& p, double moving, const Traits& traits) {
  const auto sweeps = static_cast<double>(p.sweeps);
  const double numbers = traits.indirect ? 3 : 0, sweep = (traits.colours_together ? 10 : 20) + 2 * numbers;
  const CellWork velocity{69 + 7 + 5 + 13 * sweeps, 12 + 7 + 6 + numbers * 5 / 3 + sweep * sweeps};
  const CellWork pressure = pressure_work(p, traits);
  const auto solved = static_cast<double>(p.solved());
  const CellWork scalar{87 + 12 + 2 + 13 * sweeps, 13 + 9 + 1 + 3 + numbers + sweep * sweeps};
  const double strain = p.turbulent() ? 1 : 0, properties = p.carries() ? 1 : 0;
  return {moving * velocity.flops + solved * scalar.flops + strain * 33 + properties * 4 + (p.reacting() ? 21 : 0) + 21 + 37 + 18 + 15 + 2 +
              pressure.flops,
          moving * velocity.words + solved * scalar.words + strain * (5 + numbers) + properties * 3 + (p.reacting() ? 4 : 0) + 10 + 15 +
              10 + 10 + 3 + 3 * numbers + pressure.words};
}

inline double cells_in(const Params& p) {
  double all = 1;
  for (const Index n : p.cells()) all *= static_cast<double>(n);
  return all;
}

// The number of iterations of a run to the end is not known before: it has a time and no rate.
inline fl::Cost cost(const Params& p, const fl::Team& team, const Traits& traits) {
  const double cells = cells_in(p), word = static_cast<double>(p.bits) / 8,
               kept = (7 + 8 + 6 + 8 + (p.carries() ? 4 : 0) + (p.reacting() ? 4 : 0) + (traits.indirect ? 12 : 0)) * word;
  fl::Cost c{.operations = 1, .working_set = kept * cells / team.ranks};
  if (p.iterations == 0) return c;
  const auto iterations = static_cast<double>(p.iterations);
  const CellWork work = work_of(p, p.cells()[0] > 1 ? 3 : 2, traits);
  c.elements = iterations;
  c.flops = work.flops * cells * iterations;
  c.bytes = work.words * word * cells * iterations;
  return c;
}

inline void mutate_inputs(State& s, Index iteration) { s.upcoming = iteration + 1; }

}  // namespace cfd

#ifdef FL_JUDGE
#include "judge.hpp"
#endif
