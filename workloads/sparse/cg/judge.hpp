// What a solution must be, and after how many iterations. Compiled with the harness's own flags.
#pragma once

#include <cfloat>

#include "cg.hpp"

namespace cg {

inline constexpr fl::Index counted = 1 << 17;  // rows up to which iterations are counted again

// Preconditioned conjugate gradients by the book (Saad 2003, algorithm 9.1) on the whole system.
class Reference {
 public:
  Reference(const State& s, std::vector<double> b) : s_(s), n_(s.matrix.rows()), block_(at(n_)), b_(std::move(b)), diagonal_(at(n_)) {
    for (fl::Index i = 0; i < n_; ++i) {
      row_.push_back(column_.size());
      s.matrix.row(i, [&](fl::Index c, double v) {
        column_.push_back(at(c));
        value_.push_back(v);
        if (c == i) diagonal_[at(i)] = v;
      });
    }
    row_.push_back(column_.size());
    for (int rank = 0; rank < s.team.ranks; ++rank) {
      const fl::Part mine = fl::part(n_, s.team.ranks, rank);
      for (int k = 0; k < s.team.threads; ++k) {
        const fl::Part part = fl::part(mine.size(), s.team.threads, k);
        for (fl::Index i = part.begin; i < part.end; ++i) block_[at(mine.begin + i)] = rank * s.team.threads + k;
      }
    }
  }

  // Runs to the tolerance, or for the requested iterations.
  Outcome solved() const {
    std::vector<double> r = b_, z = preconditioned(r), p = z, q(at(n_));
    const double source = dot(r, r), goal = source * reduction(s_.p) * reduction(s_.p);
    const fl::Index most = s_.p.iterations > 0 ? s_.p.iterations : 4 * n_ + 100;
    double gamma = dot(r, z);
    fl::Index taken = 0;
    while (dot(r, r) > goal && taken < most) {
      for (std::size_t i = 0; i < at(n_); ++i) {
        q[i] = 0;
        for (std::size_t k = row_[i]; k < row_[i + 1]; ++k) q[i] += value_[k] * p[column_[k]];
      }
      const double alpha = gamma / dot(p, q);
      for (std::size_t i = 0; i < at(n_); ++i) r[i] -= alpha * q[i];
      z = preconditioned(r);
      const double beta = dot(r, z) / gamma;
      gamma *= beta;
      for (std::size_t i = 0; i < at(n_); ++i) p[i] = z[i] + beta * p[i];
      ++taken;
    }
    return {taken, std::sqrt(dot(r, r) / source)};
  }

 private:
  static std::size_t at(fl::Index i) { return static_cast<std::size_t>(i); }
  static double dot(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
  }
  std::vector<double> preconditioned(const std::vector<double>& r) const {
    std::vector<double> z(r.size());
    if (s_.p.preconditioner == Preconditioner::jacobi) {
      for (std::size_t i = 0; i < r.size(); ++i) z[i] = r[i] / diagonal_[i];
      return z;
    }
    for (std::size_t i = 0; i < r.size(); ++i) z[i] = (r[i] - beside(z, i, true)) / diagonal_[i];  // (D + L) y = r
    for (std::size_t i = r.size(); i-- > 0;) z[i] -= beside(z, i, false) / diagonal_[i];           // (D + U) z = D y
    return z;
  }
  // Returns the sum over a row's entries below or above the diagonal within its block.
  double beside(const std::vector<double>& z, std::size_t i, bool below) const {
    double sum = 0;
    for (std::size_t k = row_[i]; k < row_[i + 1]; ++k) {
      const std::size_t c = column_[k];
      if (c != i && (c < i) == below && block_[c] == block_[i]) sum += value_[k] * z[c];
    }
    return sum;
  }

  const State& s_;
  fl::Index n_;
  std::vector<int> block_;
  std::vector<double> b_, diagonal_, value_;
  std::vector<std::size_t> row_, column_;
};

// Returns the outcome of the last step, or the variant's own if it is not counted. Collective.
template <class B>
Outcome reference(const State& s, B b) {
  if (s.matrix.rows() > counted) return s.outcome;
  double found[2] = {};
  if (s.team.rank == 0) {
    std::vector<double> all;
    for (fl::Index i = 0; i < s.matrix.rows(); ++i) all.push_back(s.g * b(i));
    const Outcome outcome = Reference(s, std::move(all)).solved();
    found[0] = static_cast<double>(outcome.iterations), found[1] = outcome.residual;
  }
  fl::add_up(found, 2);
  return {static_cast<fl::Index>(found[0]), found[1]};
}

// What rounding leaves of the residual after so many iterations.
inline double attainable(const State& s) {
  const bool drifts = s.p.method == Method::pipelined || s.p.method == Method::s_step;
  return 8 * DBL_EPSILON * static_cast<double>(s.outcome.iterations) * (drifts ? 1 << 20 : 1);
}

inline fl::Check check(State& s, fl::Index last) {
  if (const double wrong = fl::total(static_cast<double>(s.wrong_sums)); wrong > 0)
    return fl::Check::of(wrong, 0, fl::text("%g overlapped sums were wrong", wrong));
  s.g = fl::step_factor(last);
  const fl::ChangeLog ages(s.changing, last);
  const auto b = [&](fl::Index i) { return element(s, i, ages.of(i, -1)); };
  const double rest = true_residual(s, b);
  const Outcome wanted = reference(s, b);
  const fl::Index taken = s.outcome.iterations;
  const double left = s.p.iterations > 0 ? 2 * wanted.residual : 1.01 * std::pow(10.0, -static_cast<double>(s.p.digits));
  const double allowed = left + attainable(s);
  if (!(rest <= allowed)) return fl::Check::of(rest, allowed, fl::text("after %lld iterations |b - A x| is %.4g |b|", taken, rest));
  // Where nothing but rounding is left, it decides when a given number of iterations ends.
  const bool rounding = s.p.iterations > 0 && wanted.residual <= attainable(s);
  return fl::Check::of(rounding ? 0 : static_cast<double>(std::abs(taken - wanted.iterations)),
                       1 + static_cast<double>(wanted.iterations / 50),
                       fl::text("%lld iterations, but the reference needs %lld; |b - A x| is %.4g |b|", taken, wanted.iterations, rest));
}

}  // namespace cg
