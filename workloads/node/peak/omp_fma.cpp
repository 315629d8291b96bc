// OpenMP: every thread runs chains of its own.
#include "kernels/chains.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(peak::State& s, fl::Index) {
#pragma omp parallel for num_threads(s.team.threads) schedule(static)
  for (int thread = 0; thread < s.team.threads; ++thread) peak::run(s, thread);
}

}  // namespace

FL_VARIANT(peak, step)
