// Dense matrices of the few hundred functions of a molecule: products and the eigenvalues of a symmetric one. No library is needed, so
// that the program builds on a bare machine; compared with the integrals their time is small.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace hartree_fock {

struct Matrix {
  std::size_t n = 0;
  std::vector<double> a;  // row by row

  Matrix() = default;
  explicit Matrix(std::size_t size) : n(size), a(size * size) {}
  Matrix(std::size_t size, const double* from) : n(size), a(from, from + size * size) {}
  double* row(std::size_t i) { return a.data() + i * n; }
  const double* row(std::size_t i) const { return a.data() + i * n; }
  double& operator()(std::size_t i, std::size_t k) { return a[i * n + k]; }
  double operator()(std::size_t i, std::size_t k) const { return a[i * n + k]; }
};

[[gnu::noinline]] inline Matrix operator*(const Matrix& x, const Matrix& y) {
  Matrix z(x.n);
  for (std::size_t i = 0; i < x.n; ++i)
    for (std::size_t k = 0; k < x.n; ++k)
      for (std::size_t j = 0; j < x.n; ++j) z(i, j) += x(i, k) * y(k, j);
  return z;
}

inline Matrix transposed(const Matrix& x) {
  Matrix z(x.n);
  for (std::size_t i = 0; i < x.n; ++i)
    for (std::size_t k = 0; k < x.n; ++k) z(k, i) = x(i, k);
  return z;
}

// The sum of the products of all elements: the trace of x y^T.
inline double inner(const Matrix& x, const Matrix& y) { return std::inner_product(x.a.begin(), x.a.end(), y.a.begin(), 0.0); }

inline double largest(const Matrix& x) {
  double most = 0;
  for (const double v : x.a) most = std::max(most, std::abs(v));
  return most;
}

struct Eigen {
  std::vector<double> values;  // ascending
  Matrix vectors;              // row k: that of value k, of norm 1
};

// By Householder reflections to a tridiagonal matrix and implicit QL steps: J. H. Wilkinson, C. Reinsch, Linear Algebra (1971), II/2, II/4.
class Tridiagonal {
 public:
  explicit Tridiagonal(Matrix symmetric) : z_(std::move(symmetric)), d_(z_.n), e_(z_.n) {}

  Eigen solve() {
    reduce();
    iterate();
    std::vector<std::size_t> order(z_.n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [this](std::size_t i, std::size_t k) { return d_[i] < d_[k]; });
    Eigen found{std::vector<double>(z_.n), Matrix(z_.n)};
    for (std::size_t k = 0; k < z_.n; ++k) {
      found.values[k] = d_[order[k]];
      std::copy_n(z_.row(order[k]), z_.n, found.vectors.row(k));
    }
    return found;
  }

 private:
  // Leaves the diagonal in d_, what is beside it in e_ (from 1), and in the rows of z_ the transformation.
  void reduce() {
    const std::size_t n = z_.n;
    std::vector<std::vector<double>> reflections(n);
    for (std::size_t k = 0; k + 2 < n; ++k) {
      std::vector<double> v(n);
      double norm = 0;
      for (std::size_t i = k + 1; i < n; ++i) v[i] = z_(i, k), norm += v[i] * v[i];
      norm = std::sqrt(norm);
      v[k + 1] += std::copysign(norm, v[k + 1]);
      const double square = std::inner_product(v.begin(), v.end(), v.begin(), 0.0);
      if (square == 0) continue;
      for (double& x : v) x *= std::sqrt(2 / square);
      reflect(v, k);
      reflections[k] = std::move(v);
    }
    for (std::size_t k = 0; k < n; ++k) d_[k] = z_(k, k);
    for (std::size_t k = 1; k < n; ++k) e_[k] = z_(k, k - 1);
    // The product of all reflections, its transpose kept, so that rotations mix rows.
    Matrix q(n);
    for (std::size_t k = 0; k < n; ++k) q(k, k) = 1;
    for (std::size_t k = n; k-- > 0;) {
      const auto& v = reflections[k];
      for (std::size_t i = 0; !v.empty() && i < n; ++i) {
        const double s = std::inner_product(v.begin(), v.end(), q.row(i), 0.0);
        for (std::size_t j = 0; j < n; ++j) q(i, j) -= s * v[j];
      }
    }
    z_ = std::move(q);
  }

  // z = (1 - v v^T) z (1 - v v^T), where v begins after k.
  void reflect(const std::vector<double>& v, std::size_t k) {
    const std::size_t n = z_.n;
    std::vector<double> p(n);
    for (std::size_t i = k; i < n; ++i) p[i] = std::inner_product(v.begin() + static_cast<std::ptrdiff_t>(k), v.end(), z_.row(i) + k, 0.0);
    const double half = std::inner_product(v.begin(), v.end(), p.begin(), 0.0) / 2;
    for (std::size_t i = k; i < n; ++i) p[i] -= half * v[i];
    for (std::size_t i = k; i < n; ++i)
      for (std::size_t j = k; j < n; ++j) z_(i, j) -= v[i] * p[j] + p[i] * v[j];
  }

  void iterate() {
    const std::size_t n = z_.n;
    for (std::size_t l = 0; l < n; ++l)
      for (int left = 50;; --left) {
        std::size_t m = l;
        while (m + 1 < n && std::abs(e_[m + 1]) > std::numeric_limits<double>::epsilon() * (std::abs(d_[m]) + std::abs(d_[m + 1]))) ++m;
        if (m == l) break;
        if (left == 0) throw std::runtime_error("the eigenvalues of a matrix do not converge: it contains a value that is not a number");
        sweep(l, m);
      }
  }

  // One QL step with an implicit shift on rows l to m.
  void sweep(std::size_t l, std::size_t m) {
    double g = (d_[l + 1] - d_[l]) / (2 * e_[l + 1]);
    g = d_[m] - d_[l] + e_[l + 1] / (g + std::copysign(std::hypot(g, 1), g));
    double s = 1, c = 1, p = 0;
    for (std::size_t i = m; i-- > l;) {
      const double f = s * e_[i + 1], b = c * e_[i + 1], r = std::hypot(f, g);
      if (i + 1 < m) e_[i + 2] = r;
      if (r == 0) {
        d_[i + 1] -= p;
        return;
      }
      s = f / r, c = g / r;
      g = d_[i + 1] - p;
      const double t = (d_[i] - g) * s + 2 * c * b;
      p = s * t;
      d_[i + 1] = g + p;
      g = c * t - b;
      for (std::size_t k = 0; k < z_.n; ++k) {
        const double x = z_(i, k), y = z_(i + 1, k);
        z_(i + 1, k) = s * x + c * y;
        z_(i, k) = c * x - s * y;
      }
    }
    d_[l] -= p;
    e_[l + 1] = g;
  }

  Matrix z_;
  std::vector<double> d_, e_;
};

inline Eigen eigen_of(const Matrix& symmetric) { return Tridiagonal(symmetric).solve(); }

}  // namespace hartree_fock
