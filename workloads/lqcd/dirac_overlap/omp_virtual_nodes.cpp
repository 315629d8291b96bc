// Each SIMD lane works on a sub-lattice of its own; threads share its rows.
#include "../placed.hpp"
#include "../vector_hop.hpp"
#include "kernels/application.hpp"

namespace {

using Application = dirac_overlap::Application<lqcd::VectorHop<double>>;

void place(dirac_overlap::State& s) {
#pragma omp parallel num_threads(s.team.threads)
  for (auto* array : {&s.links, &s.psi, &s.out}) lqcd::place(*array);
}

}  // namespace

FL_VARIANT(dirac_overlap, Application, .first_touch = place, .traits = {.vector_bytes = fl::simd::bytes})
