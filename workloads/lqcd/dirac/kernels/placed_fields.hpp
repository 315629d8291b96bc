// The fields of the threads of a process.
#pragma once

#include "../placed.hpp"
#include "dirac.hpp"

namespace dirac {

inline void place_fields(State& s) {
  in_precision(s, [&](auto& a) {
#pragma omp parallel num_threads(s.team.threads)
    {
      for (auto* array : {&a.links, &a.psi, &a.chi, &a.out}) lqcd::place(*array);
      lqcd::place(a.half, 1);
    }
  });
}

}  // namespace dirac
