#include <omp.h>

#include "kernels/phases.hpp"

namespace {

void step(metadata::State& s, fl::Index) {
#pragma omp parallel num_threads(s.team.threads)
  metadata::take_step(s, s.mine[static_cast<std::size_t>(omp_get_thread_num())], [] {
#pragma omp barrier
  });
}

}  // namespace

FL_VARIANT(metadata, step, .traits = {.threads = true}, .idle = true)
