// Solves it as a dense matrix; BLAS 2 substitutes the solution and refines it once.
#include "circulant.hpp"

#include <vector>

#include "firstlight/blas.hpp"
#include "firstlight/lapack.hpp"
#include "firstlight/variant.hpp"

namespace {

void solve(int n, std::vector<double> matrix, std::vector<double>& right) {
  std::vector<int> pivots(static_cast<std::size_t>(n));
  const int one = 1;
  int info = 0;
  FL_FORTRAN(dgesv)(&n, &one, matrix.data(), &n, pivots.data(), right.data(), &n, &info);
  if (info != 0) right[0] = -1;
}

void step(circulant::State& s, fl::Index) {
  const fl::Index n = s.x.size();
  const int size = static_cast<int>(n);
  std::vector<double> matrix(static_cast<std::size_t>(n * n));
  for (fl::Index i = 0; i < n; ++i)
    for (fl::Index k = 0; k < n; ++k) matrix[static_cast<std::size_t>(k * n + i)] = circulant::column(n, (i - k + n) % n);
  std::vector<double> y(s.b.begin(), s.b.end()), left = y;
  solve(size, matrix, y);
  FL_CBLAS(dgemv)(fl::blas::column_major, fl::blas::as_is, size, size, -1, matrix.data(), size, y.data(), 1, 1, left.data(), 1);
  solve(size, matrix, left);
  for (fl::Index i = 0; i < n; ++i) s.y[i] = y[static_cast<std::size_t>(i)] + left[static_cast<std::size_t>(i)];
}

}  // namespace

FL_VARIANT(circulant, step)
