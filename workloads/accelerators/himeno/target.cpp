// OpenMP on a device: all points at once.
#include "kernels/directives.hpp"

namespace {

double sweep(const himeno::device::Job& given) {
  const himeno::device::Job job = given;
  const int ni = job.upper[0], nj = job.upper[1], nk = job.upper[2];
  double sum = 0;
#pragma omp target teams distribute parallel for collapse(3) firstprivate(job) map(tofrom : sum) reduction(+ : sum)
  for (int i = 0; i < ni; ++i)
    for (int j = 0; j < nj; ++j)
      for (int k = 0; k < nk; ++k) sum += himeno::device::point(job, i, j, k);
  return sum;
}

}  // namespace

FL_VARIANT(himeno, himeno::device::Directed<sweep>, .traits = {.bytes_a_point = 56}, .device = &fl::device::openmp)
