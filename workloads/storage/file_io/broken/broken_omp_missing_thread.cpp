#include "kernels/blocking.hpp"

namespace {

// The last thread does nothing.
void step(file_io::State& s, fl::Index) {
  const std::size_t all = s.mine.size() - 1;
#pragma omp parallel for num_threads(s.team.threads) schedule(static, 1)
  for (std::size_t k = 0; k < all; ++k) file_io::take_step<file_io::Posix<0>>(s, s.mine[k]);
}

}  // namespace

FL_VARIANT(file_io, step, .traits = {.threads = true}, .idle = true)
