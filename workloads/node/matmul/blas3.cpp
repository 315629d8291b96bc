// dgemm and sgemm of whichever library the build links.
#include "matmul.hpp"

#include "firstlight/blas.hpp"
#include "firstlight/variant.hpp"

namespace {

constexpr auto rows = fl::blas::row_major;
constexpr auto plain = fl::blas::as_is;

void multiply(int n, const matmul::Matrices<double>& m, double factor, double* c) {
  FL_CBLAS(dgemm)(rows, plain, plain, n, n, n, factor, m.a.data(), n, m.b.data(), n, 0, c, n);
}
void multiply(int n, const matmul::Matrices<float>& m, float factor, float* c) {
  FL_CBLAS(sgemm)(rows, plain, plain, n, n, n, factor, m.a.data(), n, m.b.data(), n, 0, c, n);
}

void step(matmul::State& s, fl::Index) {
  matmul::in_precision(s, [n = static_cast<int>(s.n)](auto& m, auto factor) { multiply(n, m, factor, m.c.data()); });
}

}  // namespace

FL_VARIANT(matmul, step)
