// Pages near the threads that work on them: they belong to the memory next to the thread that first writes there. The same division as in
// the loops over sites, where each thread has a run of the even sites and one of the odd ones.
#pragma once

#include <omp.h>

#include "firstlight/split.hpp"
#include "firstlight/workload.hpp"

namespace lqcd {

// The part of n things that is this thread's.
inline fl::Part my_part(fl::Index n) { return fl::part(n, omp_get_num_threads(), omp_get_thread_num()); }

// In each thread of a team. One number a page places it; `parities` that the array holds, one after the other.
template <class T>
void place(fl::Array<T>& array, int parities = 2) {
  constexpr fl::Index page = 4096 / sizeof(T);  // the smallest there is
  const fl::Index size = array.size() / parities;
  for (int parity = 0; parity < parities; ++parity) {
    const fl::Part mine = my_part(size);
    for (fl::Index i = mine.begin; i < mine.end; i += page) array[parity * size + i] = 0;
  }
}

}  // namespace lqcd
