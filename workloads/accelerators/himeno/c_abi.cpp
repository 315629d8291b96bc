// The Fortran variant under the harness: fortran_serial.f90 provides a sweep with C binding.
#include "kernels/run.hpp"

#include "firstlight/variant.hpp"

// Coefficients from inner point (0, 0, 0) on, p and next from the wall before it along all dimensions.
extern "C" double himeno_fortran_sweep(std::int64_t ni, std::int64_t nj, std::int64_t nk, std::int64_t row, std::int64_t row_p,
                                       const float* a0, const float* a1, const float* a2, const float* a3, const float* b0, const float* b1,
                                       const float* b2, const float* c0, const float* c1, const float* c2, const float* bnd,
                                       const float* wrk1, const float* p, float* next);

namespace {

void step(himeno::State& s, fl::Index) {
  const himeno::Coefficients in = himeno::coefficients(s);
  const auto [ni, nj, nk] = s.block.size();
  for (fl::Index t = 0; t < s.params.sweeps; ++t, std::swap(s.p, s.next)) {
    const auto p = s.p.view(), next = s.next.view();
    s.gosa = himeno_fortran_sweep(ni, nj, nk, s.bnd.layout().pitch, s.p.layout().pitch, in.a[0], in.a[1], in.a[2], in.a[3], in.b[0],
                                  in.b[1], in.b[2], in.c[0], in.c[1], in.c[2], in.bnd, in.wrk1, &p(-1, -1, -1), &next(-1, -1, -1));
  }
}

}  // namespace

FL_VARIANT(himeno, step)
