// What is known of factors and of a solution. A and b are functions of their indices.
#pragma once

#include "lu.hpp"

namespace lu::inline FL_ROLE {

inline constexpr Index few = 96;             // equations that are eliminated once more in long double
inline constexpr double of_tournament = 64;  // largest element of L; partial pivoting has 1

class Judge {
 public:
  Judge(const State& s, Index last) : s_(s), last_(last), ages_(s.changing, last) {}

  fl::Check check() {
    for (Index k = 0; k < s_.n; ++k)
      if (s_.pivot[k] < k || s_.pivot[k] >= s_.n) return fl::Check::of(1, 0, fl::text("row %lld has no row to change places with", k));
    magnitude();
    factors();
    residual();
    if (s_.n <= few && !s_.tournament) elimination();
    return worst_.check(fl::text("HPL's residual is %.3g, the largest element of L %.3g", residual_, largest_));
  }

 private:
  double a(Index i, Index j) const { return element(i * s_.n + j, ages_.of(i * s_.n + j, -1)); }

  void magnitude() {
    for (Index i = 0; i < s_.n; ++i)
      for (Index j = 0; j < i; ++j)
        if (!(std::fabs(s_.row(i)[j]) <= largest_)) largest_ = std::fabs(s_.row(i)[j]);
    worst_.consider(largest_, s_.tournament ? of_tournament : 1, [&] { return fl::text("an element of L is as large as %.3g", largest_); });
  }

  // P A v and L (U v).
  void factors() {
    const auto n = static_cast<std::size_t>(s_.n);
    std::vector<long double> v(n), uv(n), size(n), av(n);
    for (std::size_t j = 0; j < n; ++j) v[j] = 1 + fl::uniform(fl::seed() + j);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        const auto row = static_cast<Index>(i), column = static_cast<Index>(j);
        av[i] += a(row, column) * v[j];
        if (j < i) continue;
        uv[i] += s_.row(row)[column] * v[j];
        size[i] += std::fabs(s_.row(row)[column]) * v[j];
      }
    for (std::size_t k = 0; k < n; ++k) std::swap(av[k], av[static_cast<std::size_t>(s_.pivot[static_cast<Index>(k)])]);
    for (std::size_t i = 0; i < n; ++i) {
      long double sum = uv[i], most = size[i];
      for (std::size_t k = 0; k < i; ++k) {
        const double l = s_.row(static_cast<Index>(i))[k];
        sum += l * uv[k];
        most += std::fabs(l) * size[k];
      }
      const auto error = static_cast<double>(std::fabs(sum - av[i]));
      const auto allowed = static_cast<double>(most) * DBL_EPSILON * static_cast<double>(n);
      if (worst_.exceeded_by(error, allowed))
        worst_.consider(error, allowed,
                        [&] { return fl::text("row %zu of L U times a vector is off by %.3g, %.3g allowed", i, error, allowed); });
    }
  }

  // HPL's: |A x - b| / (eps (|A| |x| + |b|) n) in the largest row sums.
  void residual() {
    long double worst = 0, of_a = 0, of_x = 0, of_b = 0;
    for (Index i = 0; i < s_.n; ++i) {
      const long double b = right_side(i, last_);
      long double sum = -b, row = 0;
      for (Index j = 0; j < s_.n; ++j) {
        sum += static_cast<long double>(a(i, j)) * s_.x[j];
        row += std::fabs(a(i, j));
      }
      if (!(std::fabs(sum) <= worst)) worst = std::fabs(sum);
      of_a = std::max(of_a, row), of_b = std::max(of_b, std::fabs(b)), of_x = std::max<long double>(of_x, std::fabs(s_.x[i]));
    }
    residual_ = static_cast<double>(worst / (DBL_EPSILON * (of_a * of_x + of_b) * static_cast<long double>(s_.n)));
    worst_.consider(residual_, 16, [&] { return fl::text("HPL's residual is %.3g", residual_); });
  }

  void elimination() {
    const Index n = s_.n;
    std::vector<long double> m(static_cast<std::size_t>(n * n));
    const auto at = [&](Index i, Index j) -> long double& { return m[static_cast<std::size_t>(i * n + j)]; };
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j) at(i, j) = a(i, j);
    for (Index k = 0; k < n; ++k) {
      Index best = k;
      for (Index i = k + 1; i < n; ++i)
        if (std::fabs(at(i, k)) > std::fabs(at(best, k))) best = i;
      worst_.consider(best == s_.pivot[k] ? 0 : INFINITY, 1,
                      [&] { return fl::text("row %lld changed places with %lld, should with %lld", k, s_.pivot[k], best); });
      for (Index j = 0; j < n; ++j) std::swap(at(k, j), at(best, j));
      for (Index i = k + 1; i < n; ++i) {
        at(i, k) /= at(k, k);
        for (Index j = k + 1; j < n; ++j) at(i, j) -= at(i, k) * at(k, j);
      }
    }
  }

  const State& s_;
  Index last_;
  fl::Ages ages_;
  fl::WorstError worst_;
  double largest_ = 0, residual_ = 0;
};

inline fl::Check check(State& s, Index last) { return Judge(s, last).check(); }

}  // namespace lu::inline FL_ROLE
