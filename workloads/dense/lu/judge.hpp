// What is known of factors and of a solution. A and b are functions of their indices.
#pragma once

#include "lu.hpp"

namespace lu {

inline constexpr Index few = 96;             // equations that are eliminated once more in long double
inline constexpr double of_tournament = 64;  // largest element of L; partial pivoting has 1

class Judge {
 public:
  Judge(const State& s, Index last) : s_(s), last_(last), ages_(s.changing, last) {}

  fl::Check check() {
    for (Index k = 0; k < s_.n; ++k)
      if (s_.pivot[k] < k || s_.pivot[k] >= s_.n) return fl::Check::of(1, 0, fl::text("row %lld has no row to swap with", k));
    magnitude();
    factors();
    residual();
    if (s_.n <= few && !s_.tournament) elimination();
    return worst_.check(fl::text("HPL's residual is %.3g, the largest element of L %.3g", residual_, largest_));
  }

 private:
  double a(Index i, Index j) const { return with_sign(element(i * s_.n + j, ages_.of(i * s_.n + j, -1)), signs(s_.run, i, j / 64), j); }

  // visit(row, column, element of this process) in A's numbers, row by row.
  template <class Visit>
  void each(Visit visit) const {
    for (Index i = 0; i < s_.rows.size(); ++i)
      for (Index j = 0, row = s_.rows.at(i); j < s_.columns.size(); ++j) visit(row, s_.columns.at(j), s_.row(i)[j]);
  }

  void magnitude() {
    each([&](Index i, Index j, double x) {
      if (j < i && !(std::fabs(x) <= largest_)) largest_ = std::fabs(x);
    });
    fl::maximum(&largest_, 1);
    worst_.consider(largest_, s_.tournament ? of_tournament : 1, [&] { return fl::text("an element of L is as large as %.3g", largest_); });
  }

  using Vector = std::vector<long double>;
  Vector zeros() const { return Vector(static_cast<std::size_t>(s_.n)); }

  // Adds up the parts of all processes.
  void add_up(Vector& mine) const {
    if (s_.team.ranks == 1) return;
    std::vector<double> sums(mine.begin(), mine.end());
    fl::add_up(sums.data(), static_cast<int>(sums.size()));
    mine.assign(sums.begin(), sums.end());
  }

  // P A v and L (U v). Rows of L stand as the panel of their columns left them, so what they add up to changes places with each later panel.
  void factors() {
    Vector v = zeros(), uv = zeros(), size = zeros(), av = zeros(), sum = zeros(), most = zeros();
    product_ = row_ = zeros();
    for (std::size_t j = 0; j < v.size(); ++j) v[j] = 1 + fl::uniform(fl::seed() + j);
    each([&](Index row, Index column, double x) {
      const auto i = static_cast<std::size_t>(row), j = static_cast<std::size_t>(column);
      const double of_a = a(row, column);
      av[i] += of_a * v[j];
      product_[i] += static_cast<long double>(of_a) * s_.x[column];
      row_[i] += std::fabs(of_a);
      if (j < i) return;
      uv[i] += x * v[j];
      size[i] += std::fabs(x) * v[j];
    });
    for (Vector* each : {&av, &uv, &size, &product_, &row_}) add_up(*each);
    for (Index begin = 0; begin < s_.n; begin += s_.p.block) {
      const Index end = std::min(begin + s_.p.block, s_.n);
      for (Index k = begin; k < end; ++k)
        for (Vector* each : {&av, &sum, &most})
          std::swap((*each)[static_cast<std::size_t>(k)], (*each)[static_cast<std::size_t>(s_.pivot[k])]);
      if (s_.columns.has(begin)) below(begin, end, uv, size, sum, most);
    }
    for (Vector* each : {&sum, &most}) add_up(*each);
    for (std::size_t i = 0; i < v.size(); ++i) {
      const auto error = static_cast<double>(std::fabs(sum[i] + uv[i] - av[i]));
      const auto allowed = static_cast<double>(most[i] + size[i]) * DBL_EPSILON * static_cast<double>(s_.n);
      if (worst_.exceeded_by(error, allowed))
        worst_.consider(error, allowed,
                        [&] { return fl::text("row %zu of L U times a vector is off by %.3g, %.3g allowed", i, error, allowed); });
    }
  }

  // What these columns of L add.
  void below(Index begin, Index end, const Vector& uv, const Vector& size, Vector& sum, Vector& most) const {
    const Index first = s_.columns.before(begin);
    for (Index i = s_.rows.before(begin); i < s_.rows.size(); ++i) {
      const auto row = static_cast<std::size_t>(s_.rows.at(i));
      for (Index k = begin; k < std::min(end, s_.rows.at(i)); ++k) {
        const double l = s_.row(i)[first + k - begin];
        sum[row] += l * uv[static_cast<std::size_t>(k)];
        most[row] += std::fabs(l) * size[static_cast<std::size_t>(k)];
      }
    }
  }

  // After factors(). HPL's: |A x - b| / (eps (|A| |x| + |b|) n) in the largest row sums.
  void residual() {
    long double worst = 0, of_a = 0, of_x = 0, of_b = 0;
    for (Index i = 0; i < s_.n; ++i) {
      const long double b = right_side(i, last_), off = std::fabs(product_[static_cast<std::size_t>(i)] - b);
      if (!(off <= worst)) worst = off;
      of_a = std::max(of_a, row_[static_cast<std::size_t>(i)]), of_b = std::max(of_b, std::fabs(b));
      of_x = std::max<long double>(of_x, std::fabs(s_.x[i]));
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
                      [&] { return fl::text("row %lld was swapped with row %lld instead of row %lld", k, s_.pivot[k], best); });
      for (Index j = 0; j < n; ++j) std::swap(at(k, j), at(best, j));
      for (Index i = k + 1; i < n; ++i) {
        at(i, k) /= at(k, k);
        for (Index j = k + 1; j < n; ++j) at(i, j) -= at(i, k) * at(k, j);
      }
    }
  }

  const State& s_;
  Index last_;
  fl::ChangeLog ages_;
  fl::WorstError worst_;
  Vector product_, row_;  // A x, and the sums of magnitudes of A's rows: from the pass over A that factors() makes
  double largest_ = 0, residual_ = 0;
};

inline fl::Check check(State& s, Index last) { return Judge(s, last).check(); }

}  // namespace lu
