// himeno: the benchmark of R. Himeno (R4), 19-point Jacobi sweeps over a pressure field in 32 bits. One step is a run of `sweeps` sweeps.
//
// The points of the whole grid that are on its border are walls, where p never changes: of a field on the inner points they are the halo
// beyond open ends. GOSA is the sum of ss^2 over the inner points in the last sweep.
#pragma once

#include "state.hpp"

namespace himeno {

struct Traits {
  double bytes_a_point = 60;  // of memory traffic in a sweep: 13 arrays read, and one written, whose lines are read before
  Index sweeps_at_once = 1;   // for which that traffic is enough
};

inline constexpr fl::Phases phases{"halo", "inner", "rim", "sum"};
inline constexpr fl::About about{
    .title = "Himeno benchmark",
    .cost =
        "34 flop and 60 bytes per inner point and sweep: 13 arrays are read, one is read and written. A variant that "
        "moves fewer bytes declares its own cost.",
    .verified =
        "p at every inner point and GOSA of the last sweep, compared with sweeps in 64 bit. GOSA of the benchmark's own inputs is "
        "also compared with sweeps that use their symmetry.",
    .tolerance =
        "p: 1.5 eps (1 + sqrt(sweeps)) of its largest initial value; GOSA: the change of the sum if each term is rounded by 2 eps of "
        "that value",
    .phases = phases,
};
inline constexpr fl::Metric metrics[] = {{"rate", "Mflop/s", "flops", "rate", 1e-6, "higher"},
                                         {"sweep_time", "us", "operations", "time", 1e6, "lower"},
                                         {"gosa", "1", "gosa", "value", 1, "lower"},                     // of the benchmark's own inputs
                                         {"gosa_exact", "1", "gosa_exact", "value", 1, "lower"},         // the same, all in 64 bits
                                         {"gosa_official", "1", "gosa_official", "value", 1, "lower"}};  // summed in 32 bits

inline double points_in(const Params& p) {
  double all = 1;
  for (const Index n : p.domain().extents) all *= static_cast<double>(n);
  return all;
}

inline void mutate_inputs(State& s, Index iteration) { s.upcoming = iteration + 1; }

inline fl::Cost cost(const Params& p, const fl::Team& team, const Traits& traits) {
  const double points = points_in(p), sweeps = static_cast<double>(p.sweeps), updates = points * sweeps;
  const Index groups = (p.sweeps + traits.sweeps_at_once - 1) / traits.sweeps_at_once;
  return {.flops = 34 * updates,
          .bytes = traits.bytes_a_point * points * static_cast<double>(groups),
          .operations = sweeps,
          .elements = updates,
          .working_set = 14 * sizeof(float) * points / team.ranks};
}

}  // namespace himeno

#ifdef FL_JUDGE
#include "judge.hpp"
#endif
