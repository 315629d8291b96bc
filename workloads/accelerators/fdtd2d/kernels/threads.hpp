// The fields of the threads of a process: each writes first what it computes on.
#pragma once

#include <omp.h>

#include "fdtd2d.hpp"

namespace fdtd2d {

inline void place(State& s) {
  in_precision(s, [&](auto& a) {
#pragma omp parallel num_threads(s.team.threads)
    for (auto* each : {&a.ez, &a.hx, &a.hy, &a.ca, &a.cb, &a.psi_ex, &a.psi_ey, &a.psi_hx, &a.psi_hy})
      grid::first_touch(*each, omp_get_thread_num(), omp_get_num_threads());
  });
}

}  // namespace fdtd2d
