// cfd_solver: the linear solvers of a finite-volume code (R2's application), so that their rate stands alone. One step is one solution of
// A x = b from x = 0, to a tolerance or of so many iterations, the factorisation included.
#pragma once

#include "../multigrid_work.hpp"
#include "state.hpp"

namespace cfd_solver {

// What an iteration of a method computes and moves for each cell, what its factorisation does once, and the bytes of all arrays.
struct Work {
  double flops = 0, bytes = 0, factor_flops = 0, factor_bytes = 0, kept = 0;
};
inline Work work_of(const Params& p, const Traits& traits) {
  const auto word = static_cast<double>(p.bits) / 8;
  const double numbers = traits.indirect ? 6 * sizeof(std::int32_t) : 0;
  switch (p.kernel) {
    case Kernel::
        sip:  // forward: A, b, x, L and 1 / L_P read, q written; backward: U, q and x read, q and x written. Neighbours are read twice
      if (traits.mixed) return {28, (11 + 5) * word, 33, (7 + 3.5) * word, (9 + 4) * word};
      return {28, 21 * word + 1.5 * numbers, 33, 14 * word, 17 * word + numbers};
    case Kernel::red_black:  // each half sweep passes through A, b and x; A, b and x are put in order once, and x back
      if (traits.ordered) return {13, 10 * word, 0, 20 * word, 18 * word};
      return {13, (traits.colours_together ? 10 : 20) * word + 2 * numbers, 0, 0, 9 * word + numbers};
    case Kernel::cg:
      return {23, 18 * word + numbers, 0, 0, 11 * word + numbers};
    case Kernel::iccg:
      return {39, 31 * word + 2 * numbers, 7, 5 * word, 13 * word + numbers};
    case Kernel::multigrid:
    case Kernel::mgcg: {
      const cfd::Coupling coupling = p.equation().coupling();
      const cfd::CellWork cycle = cfd::cycle_work(p.cells(), coupling, p.kernel == Kernel::mgcg),
                          matrices = cfd::matrices_work(p.cells(), coupling);
      return {cycle.flops, cycle.words * word, matrices.flops, matrices.words * word, (4 + matrices.words / 8 * 9) * word};
    }
  }
  return {};
}

inline constexpr fl::Phases phases{"factor", "sweep", "halo", "sum"};
inline constexpr fl::About about{
    .title = "Solvers of finite volumes",
    .cost =
        "Flop and bytes per cell and iteration. Stone's solver: 28 and 168, with factors in 32 bit 128 bytes. Red-black: 13 and 160, "
        "or 80 if both colours are updated together. Conjugate gradients: 23 and 144, with incomplete Cholesky 39 and 248, with "
        "multigrid 82 and 463. Multigrid: 78 and 439. Indices of neighbours count 24 bytes per read.",
    .verified =
        "x in every cell, the number of iterations and the residual before each of them, compared with a plain solver; the residual "
        "of x",
    .tolerance =
        "x: 1e-9 of its largest value and the same iterations; with factors in 32 bit 1e-5 and one iteration more or less. "
        "Intermediate residuals: 1e-8, and 1e-13 of the first. All in 32 bit: rounding times the condition of the matrix, two "
        "iterations more or less.",
    .phases = phases,
};
inline constexpr fl::Metric metrics[] = {
    {"time", "s", "operations", "time", 1, "lower"},
    {"rate", "Mflop/s", "flops", "rate", 1e-6, "higher"},
    {"sweep_rate", "Mflop/s", "flops", "rate", 1e-6, "higher", phases("sweep")},
    {"iteration_time", "us", "iteration_time", "value", 1e6, "lower"},
    {"iterations", "iterations", "iterations", "value", 1, "lower"},
};

inline double cells_in(const Params& p) {
  double all = 1;
  for (const Index n : p.cells()) all *= static_cast<double>(n);
  return all;
}

// What a run to the tolerance does depends on how many iterations it needs, which is not known before: it has a time and no rate.
inline fl::Cost cost(const Params& p, const fl::Team& team, const Traits& traits) {
  const Work work = work_of(p, traits);
  const double cells = cells_in(p), updates = cells * static_cast<double>(p.sweeps);
  fl::Cost c{.operations = 1, .working_set = work.kept * cells / team.ranks};
  if (p.sweeps == 0) return c;
  c.flops = work.flops * updates + work.factor_flops * cells;
  c.bytes = work.bytes * updates + work.factor_bytes * cells;
  c.elements = updates;
  c.phases = {{phases("sweep"), &fl::Cost::flops, work.flops * updates}, {phases("sweep"), &fl::Cost::bytes, work.bytes * updates}};
  return c;
}

inline void mutate_inputs(State& s, Index iteration) { s.upcoming = iteration + 1; }

}  // namespace cfd_solver

#ifdef FL_JUDGE
#include "judge.hpp"
#endif
