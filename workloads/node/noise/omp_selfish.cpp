// Looks at the clock on several processors at once.
#include <omp.h>

#include "noise.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(noise::State& s, fl::Index) {
#pragma omp parallel num_threads(s.team.threads)
  noise::look(s, omp_get_thread_num());
}

}  // namespace

FL_VARIANT(noise, step, .traits = {.looking = true})
