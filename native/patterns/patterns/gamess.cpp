// Quantum chemistry with replicated matrices: each step of the self-consistent field sums every process's part of the Fock matrix, and the
// process with the new density broadcasts it.
#include "neighbours.hpp"
#include "together.hpp"

namespace fl::patterns {

namespace {

Instance instance(Rank ranks, const Values& v) {
  const std::int64_t n = value(v, "basis"), triangle = 8 * n * (n + 1) / 2;
  return {.iterations = 15,
          .phases = {together("density", Collective::broadcast, triangle, all_ranks(ranks)),
                     together("Fock matrix", Collective::allreduce, triangle, all_ranks(ranks))}};
}

}  // namespace

FL_PATTERN(gamess){.name = "gamess",
                   .title = "quantum chemistry: broadcast of the density, allreduce of the Fock matrix",
                   .applications = "GAMESS (quantum chemistry)",
                   .source = "allreduce and broadcast by R4's table of applications; symmetric matrices over basis functions, in doubles",
                   .parameters = {{.name = "basis", .value = 1000, .least = 1, .most = 40000, .means = "basis functions"}},
                   .small = {"basis=60"},
                   .instance = instance};

}  // namespace fl::patterns
