// OpenACC at first sight: two directives, one a loop.
#include "kernels/directives.hpp"

namespace {

double sweep(const himeno::device::Job& given) {
  const himeno::device::Job job = given;
  const int ni = job.upper[0], nj = job.upper[1], nk = job.upper[2];
  double sum = 0;
#pragma acc parallel loop firstprivate(job) reduction(+ : sum)
  for (int i = 0; i < ni; ++i)
#pragma acc loop reduction(+ : sum)
    for (int j = 0; j < nj; ++j)
      for (int k = 0; k < nk; ++k) sum += himeno::device::point(job, i, j, k);
  return sum;
}

}  // namespace

FL_VARIANT(himeno, himeno::device::Directed<sweep>, .traits = {.bytes_a_point = 56}, .device = &fl::device::openacc)
