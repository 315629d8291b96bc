// Leaves the quanta of the last processor out.
#include <omp.h>

#include "noise.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(noise::State& s, fl::Index) {
#pragma omp parallel num_threads(s.team.threads)
  if (omp_get_thread_num() + 1 < s.team.threads) noise::do_quanta(s, omp_get_thread_num());
}

}  // namespace

FL_VARIANT(noise, step)
