// Who packs and unpacks: a team calls work(share, shares) once for each share and returns when all are done.
#pragma once

#ifdef _OPENMP
#include <omp.h>
#endif

#include "firstlight/role.hpp"

namespace fl::grid::inline FL_ROLE {

// The calling thread alone.
struct Alone {
  template <class Work>
  void operator()(Work work) const {
    work(0, 1);
  }
};

#ifdef _OPENMP
// A parallel region of so many threads. Threads of a region that exists already call the parts of Exchange themselves.
struct OpenMp {
  int threads = 1;

  template <class Work>
  void operator()(Work work) const {
#pragma omp parallel num_threads(threads)
    work(omp_get_thread_num(), omp_get_num_threads());
  }
};
#endif

}  // namespace fl::grid::inline FL_ROLE
