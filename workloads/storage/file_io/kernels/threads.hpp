// One party in each thread of OpenMP.
#pragma once

#include "blocking.hpp"

namespace file_io {

template <class File>
void step_of_threads(State& s, Index) {
#pragma omp parallel for num_threads(s.team.threads) schedule(static, 1)
  for (std::size_t k = 0; k < s.mine.size(); ++k) take_step<File>(s, s.mine[k]);
}

}  // namespace file_io
