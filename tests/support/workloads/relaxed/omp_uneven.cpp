// Runs a team and then a smaller one: GNU's runtime ends the threads that the second team does not need.
#include "relaxed.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(relaxed::State& s, fl::Index) {
#pragma omp parallel for num_threads(s.team.threads)
  for (fl::Index i = 0; i < s.u.size(); ++i) s.u[i] *= s.scale;
  for (fl::Index k = 0; k < s.runs; ++k) relaxed::update(s);
#pragma omp parallel for num_threads(2)
  for (fl::Index i = 0; i < s.u.size(); ++i) s.next[i] = 0;
}

}  // namespace

FL_VARIANT(relaxed, step)
