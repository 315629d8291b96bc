// OpenMP: each thread sums its part with SIMD partial sums.
#include "dot.hpp"

#include "firstlight/variant.hpp"

namespace {

// Pages go to the thread that first writes them: the same split as in step().
void place(dot::State& s) {
  double* x = s.x.data();
  double* y = s.y.data();
#pragma omp parallel for num_threads(s.team.threads) schedule(static)
  for (fl::Index i = 0; i < s.x.size(); ++i) x[i] = y[i] = 0;
}

void step(dot::State& s, fl::Index) {
  const double* x = s.x.data();
  const double* y = s.y.data();
  double sum = 0;
#pragma omp parallel for simd num_threads(s.team.threads) schedule(static) reduction(+ : sum)
  for (fl::Index i = 0; i < s.x.size(); ++i) sum += x[i] * y[i];
  s.result = sum;
}

}  // namespace

FL_VARIANT(dot, step, .first_touch = place)
