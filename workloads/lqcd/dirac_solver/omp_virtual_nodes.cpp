// Each SIMD lane works on a sub-lattice of its own; threads share its rows.
#include "../placed.hpp"
#include "../vector_hop.hpp"
#include "kernels/solver.hpp"

namespace {

using Solver = dirac_solver::Solver<lqcd::VectorHop>;

void place(dirac_solver::State& s) {
#pragma omp parallel num_threads(s.team.threads)
  {
    for (auto* array : {&s.links, &s.b, &s.x}) lqcd::place(*array);
    lqcd::place(s.links32);
  }
}

}  // namespace

FL_VARIANT(dirac_solver, Solver, .first_touch = place, .traits = {.vector_bytes = fl::simd::bytes})
