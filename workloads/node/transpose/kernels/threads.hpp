// Each thread has rows of B of its own, in whole lines of A's columns, and the pages of these rows of both matrices near it.
#pragma once

#include <omp.h>

#include "loops.hpp"

namespace transpose {

inline fl::Part own_rows(const State& s) {
  constexpr Index unit = 16;
  return fl::part_in_units(s.n, omp_get_num_threads(), omp_get_thread_num(), unit);
}

inline void place(State& s) {
  in_precision(s, [&](auto& m) {
#pragma omp parallel num_threads(s.team.threads)
    {
      const fl::Part own = own_rows(s);
      for (auto* matrix : {&m.a, &m.b})
        std::fill_n(matrix->data() + own.begin * s.n, own.size() * s.n, std::remove_reference_t<decltype(m.a[0])>{});
    }
  });
}

}  // namespace transpose
