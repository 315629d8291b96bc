// The Fortran variants under the harness: each f90 file provides dot_fortran with C binding.
#include "dot.hpp"

#include "firstlight/variant.hpp"

extern "C" double dot_fortran(const double* x, const double* y, std::int64_t n);

namespace {

void step(dot::State& s, fl::Index) { s.result = dot_fortran(s.x.data(), s.y.data(), s.x.size()); }

}  // namespace

FL_VARIANT(dot, step)
