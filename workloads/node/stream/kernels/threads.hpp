// The same contiguous part of the arrays for each thread in every step, and the pages of that part near the thread.
#pragma once

#include <omp.h>

#include "vectors.hpp"

namespace stream {

// body(first, last) in each thread, on its part.
template <class F>
[[gnu::always_inline]] inline void each_part(State& s, F body) {
#pragma omp parallel num_threads(s.team.threads)
  {
    const int part = omp_get_thread_num(), parts = omp_get_num_threads();
    body(part_begin(s.n, part, parts), part_begin(s.n, part + 1, parts));
  }
}

// One element a page is enough to place it.
inline void place(State& s) {
  constexpr fl::Index page = 4096 / sizeof(double);
  each_part(s, [&](fl::Index first, fl::Index last) {
    for (fl::Array<double>* array : {&s.x, &s.y, &s.out})
      for (fl::Index i = first; i < std::min(last, array->size()); i += page) (*array)[i] = 0;
  });
}

inline double load_in_parts(State& s) {
  double sum = 0;
#pragma omp parallel num_threads(s.team.threads) reduction(+ : sum)
  {
    const int part = omp_get_thread_num(), parts = omp_get_num_threads();
    sum += load(s.x.data(), part_begin(s.n, part, parts), part_begin(s.n, part + 1, parts));
  }
  return sum;
}

}  // namespace stream
