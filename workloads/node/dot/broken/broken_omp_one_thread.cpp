// Requests one thread, whatever the size of the team.
#include "dot.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(dot::State& s, fl::Index) {
  double sum = 0;
#pragma omp parallel for num_threads(1) reduction(+ : sum)
  for (fl::Index i = 0; i < s.x.size(); ++i) sum += s.x[i] * s.y[i];
  s.result = sum;
}

}  // namespace

FL_VARIANT(dot, step)
