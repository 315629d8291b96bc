// Eigenvalues and eigenvectors of a symmetric matrix by Jacobi's rotations (G. Golub, C. Van Loan, Matrix Computations, 8.5).
#pragma once

#include <cfloat>
#include <cmath>
#include <numeric>
#include <vector>

#include "rsdft.hpp"

namespace rsdft {

class Jacobi {
 public:
  explicit Jacobi(Index n) : n_(n), a_(square()), v_(square()), vectors_(square()), order_(static_cast<std::size_t>(n)) {}

  double* matrix() { return a_.data(); }  // n x n, destroyed
  // The lowest first; vectors by columns.
  const double* vectors() const { return vectors_.data(); }
  double value(Index k) const { return at(a_, order(k), order(k)); }

  void solve() {
    std::fill(v_.begin(), v_.end(), 0.0);
    for (Index i = 0; i < n_; ++i) at(v_, i, i) = 1;
    for (int sweep = 0; sweep < 50 && !diagonal(); ++sweep)
      for (Index p = 0; p < n_; ++p)
        for (Index q = p + 1; q < n_; ++q) rotate(p, q);
    std::iota(order_.begin(), order_.end(), Index{0});
    std::sort(order_.begin(), order_.end(), [&](Index x, Index y) { return at(a_, x, x) < at(a_, y, y); });
    for (Index i = 0; i < n_; ++i)
      for (Index k = 0; k < n_; ++k) at(vectors_, i, k) = at(v_, order(k), i);
  }

 private:
  using Matrix = std::vector<double>;

  Matrix square() const { return Matrix(static_cast<std::size_t>(n_ * n_)); }
  double& at(Matrix& m, Index i, Index j) const { return m[static_cast<std::size_t>(i * n_ + j)]; }
  double at(const Matrix& m, Index i, Index j) const { return m[static_cast<std::size_t>(i * n_ + j)]; }
  Index order(Index k) const { return order_[static_cast<std::size_t>(k)]; }

  bool diagonal() const {
    double off = 0, all = 0;
    for (Index i = 0; i < n_; ++i)
      for (Index j = 0; j < n_; ++j) (i == j ? all : off) += at(a_, i, j) * at(a_, i, j);
    return !(off > DBL_EPSILON * DBL_EPSILON * all);
  }
  // Element (p, q) becomes zero; `v_` keeps eigenvectors as rows.
  void rotate(Index p, Index q) {
    const double apq = at(a_, p, q);
    if (apq == 0) return;
    const double tau = (at(a_, q, q) - at(a_, p, p)) / (2 * apq), t = std::copysign(1, tau) / (std::fabs(tau) + std::sqrt(1 + tau * tau));
    const double c = 1 / std::sqrt(1 + t * t), s = t * c;
    for (Index k = 0; k < n_; ++k) turn(at(a_, k, p), at(a_, k, q), c, s);
    for (Index k = 0; k < n_; ++k) turn(at(a_, p, k), at(a_, q, k), c, s);
    for (Index k = 0; k < n_; ++k) turn(at(v_, p, k), at(v_, q, k), c, s);
  }
  static void turn(double& x, double& y, double c, double s) {
    const double before = x;
    x = c * x - s * y, y = s * before + c * y;
  }

  Index n_;
  Matrix a_, v_, vectors_;
  std::vector<Index> order_;
};

}  // namespace rsdft
