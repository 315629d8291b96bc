// The methods, as one party (a process, or a thread of one) takes them on its own rows. A party M gives
//   own                        its rows, where they are in the vectors that all parties of the process share
//   multiply(x, y)             y = A x; waits for the others' x
//   precondition(r, z)         z = M^-1 r
//   start(values, n), finish() the sums of n values over all parties, in place, known after finish()
// Sources: Hestenes and Stiefel 1952; Gropp 2010; Ghysels and Vanroose 2014; Carson and Demmel 2014 (residuals made anew; s iterations by
// the coefficients of a basis). Sums of one iteration are of r z and r r together, so that a method's tolerance is that of |r| / |b|.
#pragma once

#include <array>
#include <vector>

#include "firstlight/simd.hpp"
#include "system.hpp"

namespace cg {

// Vectors of a method. All have room for what comes from other processes, for all but few of them are multiplied.
inline fl::Index vectors(const Params& p) {
  switch (p.method) {
    case Method::classic:
      return 4;
    case Method::gropp:
      return 6;
    case Method::pipelined:
    case Method::replaced:
      return 10;
    case Method::s_step:
      return 2 * (2 * p.s + 1) + 3;
  }
  return 0;
}

class Vectors {
 public:
  Vectors(fl::Index count, fl::Index size) {
    for (fl::Index k = 0; k < count; ++k) {
      all_.emplace_back(size);
      std::fill(all_.back().begin(), all_.back().end(), 0.);
    }
  }
  double* operator[](std::size_t k) { return all_[k].data(); }

 private:
  std::vector<fl::Array<double>> all_;
};

// Sums of `count` terms over rows; term(i) is an array of them. Lanes of their own, that no order of additions hangs on a compiler.
template <std::size_t count, class Term>
[[gnu::always_inline]] inline std::array<double, count> sums(fl::Part rows, Term term) {
  constexpr int lanes = 8;
  double lane[count][lanes] = {};
  fl::Index i = rows.begin;
  for (; i + lanes <= rows.end; i += lanes)
    for (int l = 0; l < lanes; ++l) {
      const std::array<double, count> t = term(i + l);
      for (std::size_t k = 0; k < count; ++k) lane[k][l] += t[k];
    }
  for (; i < rows.end; ++i) {
    const std::array<double, count> t = term(i);
    for (std::size_t k = 0; k < count; ++k) lane[k][0] += t[k];
  }
  std::array<double, count> found{};
  for (std::size_t k = 0; k < count; ++k)
    for (int l = 0; l < lanes; ++l) found[k] += lane[k][l];
  return found;
}

template <class M>
class Solver {
 public:
  Solver(State& s, M& m, Vectors& v)
      : s_(s), m_(m), v_(v), own_(m.own), most_(s.p.iterations > 0 ? s.p.iterations : 4 * s.matrix.rows() + 100) {}

  Outcome solve() {
    switch (s_.p.method) {
      case Method::classic:
        return classic();
      case Method::gropp:
        return gropp();
      case Method::pipelined:
        return pipelined(0);
      case Method::replaced:
        return pipelined(s_.p.replace);
      case Method::s_step:
        return s_step();
    }
    return {};
  }

 private:
  Outcome classic() {
    double *x = s_.x.data(), *r = v_[0], *z = v_[1], *p = v_[2], *q = v_[3];
    begin(x, r, z);
    copy(z, p);
    double gamma = first(r, z);
    while (goes_on()) {
      m_.multiply(p, q);
      const double alpha = step(gamma, sum<1>([=](fl::Index i) { return std::array{p[i] * q[i]}; })[0]);
      FL_INDEPENDENT
      for (fl::Index i = own_.begin; i < own_.end; ++i) {
        x[i] += alpha * p[i];
        r[i] -= alpha * q[i];
      }
      m_.precondition(r, z);
      const double beta = next(residual(r, z), gamma);
      FL_INDEPENDENT
      for (fl::Index i = own_.begin; i < own_.end; ++i) p[i] = z[i] + beta * p[i];
    }
    return outcome();
  }

  // The sum of p s is known when M^-1 s is, the others when A z is.
  Outcome gropp() {
    double *x = s_.x.data(), *r = v_[0], *z = v_[1], *p = v_[2], *q = v_[3], *s = v_[4], *w = v_[5];
    begin(x, r, z);
    copy(z, p);
    double gamma = first(r, z);
    m_.multiply(p, s);
    while (goes_on()) {
      auto delta = sums<1>(own_, [=](fl::Index i) { return std::array{p[i] * s[i]}; });
      m_.start(delta.data(), 1);
      m_.precondition(s, q);
      m_.finish();
      const double alpha = step(gamma, delta[0]);
      FL_INDEPENDENT
      for (fl::Index i = own_.begin; i < own_.end; ++i) {
        x[i] += alpha * p[i];
        r[i] -= alpha * s[i];
        z[i] -= alpha * q[i];
      }
      auto both = sums<2>(own_, [=](fl::Index i) { return std::array{r[i] * z[i], r[i] * r[i]}; });
      m_.start(both.data(), 2);
      m_.multiply(z, w);
      m_.finish();
      const double beta = next(both, gamma);
      FL_INDEPENDENT
      for (fl::Index i = own_.begin; i < own_.end; ++i) {
        p[i] = z[i] + beta * p[i];
        s[i] = w[i] + beta * s[i];
      }
    }
    return outcome();
  }

  // One sum an iteration, known when M^-1 w and A M^-1 w are; u = M^-1 r, w = A u, s = A p, q = M^-1 s, z = A q.
  // `replace`: after so many iterations all of them are made from x and p anew (0: never).
  Outcome pipelined(fl::Index replace) {
    double *x = s_.x.data(), *r = v_[0], *u = v_[1], *w = v_[2], *m = v_[3], *n = v_[4];
    double *p = v_[5], *s = v_[6], *q = v_[7], *z = v_[8], *kept = v_[9];
    begin(x, r, u);
    double gamma = first(r, u), alpha = 0;
    m_.multiply(u, w);
    for (bool begun = false; goes_on(); begun = true) {
      auto all = sums<3>(own_, [=](fl::Index i) { return std::array{r[i] * u[i], r[i] * r[i], w[i] * u[i]}; });
      m_.start(all.data(), 3);
      m_.precondition(w, m);
      m_.multiply(m, n);
      m_.finish();
      double beta = 0;
      if (begun) {
        beta = next({all[0], all[1]}, gamma);
        if (!goes_on()) break;
      }
      alpha = step(gamma, begun ? all[2] - beta * gamma / alpha : all[2]);
      FL_INDEPENDENT
      for (fl::Index i = own_.begin; i < own_.end; ++i) {
        z[i] = n[i] + beta * z[i];
        q[i] = m[i] + beta * q[i];
        s[i] = w[i] + beta * s[i];
        p[i] = u[i] + beta * p[i];
        x[i] += alpha * p[i];
        r[i] -= alpha * s[i];
        u[i] -= alpha * q[i];
        w[i] -= alpha * z[i];
      }
      if (replace > 0 && (taken_ + 1) % replace == 0) {
        copy(x, kept);  // with room for what comes from others
        m_.multiply(kept, r);
        for (fl::Index i = own_.begin; i < own_.end; ++i) r[i] = s_.g * s_.b[i] - r[i];
        m_.precondition(r, u);
        m_.multiply(u, w);
        m_.multiply(p, s);
        m_.precondition(s, q);
        m_.multiply(q, z);
      }
    }
    return outcome();
  }

  // s iterations in the basis U = (p, B p, ..., B^s p, z, B z, ..., B^(s-1) z), B = M^-1 A, and R = M U: vectors are their coefficients,
  // and all sums follow from those of pairs, U^T R and R^T R. Nothing needs M p, so that the first of R stays 0.
  Outcome s_step() {
    const auto s = static_cast<std::size_t>(s_.p.s), width = 2 * s + 1;
    const auto U = [&](std::size_t k) { return v_[3 + k]; };
    const auto R = [&](std::size_t k) { return v_[3 + width + k]; };
    double *x = s_.x.data(), *r = v_[0], *z = v_[1], *p = v_[2];
    begin(x, r, z);
    copy(z, p);
    double gamma = first(r, z);
    std::vector<double> pairs(2 * width * width);
    while (goes_on()) {
      copy(p, U(0));
      copy(z, U(s + 1));
      copy(r, R(s + 1));
      for (std::size_t k = 1; k < width; ++k) {
        if (k == s + 1) continue;
        m_.multiply(U(k - 1), R(k));
        m_.precondition(R(k), U(k));
      }
      add_pairs(width, U, R, pairs);
      m_.start(pairs.data(), static_cast<int>(pairs.size()));
      m_.finish();
      Coefficients c(width);
      c.p[0] = c.r[s + 1] = 1;
      for (std::size_t k = 0; k < s && goes_on(); ++k) {
        std::vector<double> image_p(width);
        for (std::size_t j = 0; j + 1 < width; ++j)
          if (j != s) image_p[j + 1] = c.p[j];
        const double alpha = step(gamma, product(pairs.data(), c.p, image_p));
        for (std::size_t j = 0; j < width; ++j) {
          c.x[j] += alpha * c.p[j];
          c.r[j] -= alpha * image_p[j];
        }
        const double* squares = pairs.data() + width * width;
        const double beta = next({product(pairs.data(), c.r, c.r), std::max(product(squares, c.r, c.r), 0.)}, gamma);
        for (std::size_t j = 0; j < width; ++j) c.p[j] = c.r[j] + beta * c.p[j];
      }
      combine(c.x, U, x, true);
      combine(c.r, R, r, false);
      combine(c.r, U, z, false);
      combine(c.p, U, p, false);
    }
    return outcome();
  }

  struct Coefficients {
    std::vector<double> x, r, p;
    explicit Coefficients(std::size_t n) : x(n), r(n), p(n) {}
  };
  static double product(const double* pairs, const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
      for (std::size_t j = 0; j < b.size(); ++j) sum += a[i] * pairs[i * a.size() + j] * b[j];
    return sum;
  }
  // Both are symmetric. A few rows at a time, which stay in a cache.
  template <class U, class R>
  void add_pairs(std::size_t width, U u, R r, std::vector<double>& pairs) {
    constexpr fl::Index few = 512;
    std::fill(pairs.begin(), pairs.end(), 0.);
    for (fl::Index from = own_.begin; from < own_.end; from += few)
      for (std::size_t a = 0; a < width; ++a)
        for (std::size_t b = a; b < width; ++b) {
          const double *ua = u(a), *ra = r(a), *rb = r(b);
          const auto both =
              sums<2>({from, std::min(from + few, own_.end)}, [=](fl::Index i) { return std::array{ua[i] * rb[i], ra[i] * rb[i]}; });
          pairs[a * width + b] += both[0];
          pairs[(width + a) * width + b] += both[1];
        }
    for (std::size_t a = 0; a < width; ++a)
      for (std::size_t b = 0; b < a; ++b)
        for (std::size_t which : {std::size_t{0}, width}) pairs[(which + a) * width + b] = pairs[(which + b) * width + a];
  }
  template <class Basis>
  void combine(const std::vector<double>& c, Basis basis, double* to, bool add) {
    if (!add) std::fill(to + own_.begin, to + own_.end, 0.);
    for (std::size_t k = 0; k < c.size(); ++k) {
      const double *u = basis(k), f = c[k];
      FL_INDEPENDENT
      for (fl::Index i = own_.begin; i < own_.end; ++i) to[i] += f * u[i];
    }
  }

  // x = 0, r = b, z = M^-1 r.
  void begin(double* x, double* r, double* z) {
    for (fl::Index i = own_.begin; i < own_.end; ++i) {
      x[i] = 0;
      r[i] = s_.g * s_.b[i];
    }
    m_.precondition(r, z);
  }
  void copy(const double* from, double* to) { std::copy(from + own_.begin, from + own_.end, to + own_.begin); }

  template <std::size_t count, class Term>
  std::array<double, count> sum(Term term) {
    auto found = sums<count>(own_, term);
    m_.start(found.data(), count);
    m_.finish();
    return found;
  }
  std::array<double, 2> residual(const double* r, const double* z) {
    return sum<2>([=](fl::Index i) { return std::array{r[i] * z[i], r[i] * r[i]}; });
  }
  double first(const double* r, const double* z) {
    const auto [gamma, square] = residual(r, z);
    source_ = square_ = square;
    goal_ = square * reduction(s_.p) * reduction(s_.p);
    return gamma;
  }
  // After an update of x: with the sums of r z and r r. Returns the ratio of the new gamma to the old one, and takes it.
  double next(const std::array<double, 2>& found, double& gamma) {
    if (!ended_) ++taken_;
    square_ = found[1];
    return found[0] / std::exchange(gamma, found[0]);
  }
  // How far x goes along p. Both are positive until rounding is all that is left: then nothing can be gained, and the iteration ends.
  double step(double gamma, double curvature) {
    ended_ = !(gamma > 0 && curvature > 0);
    return ended_ ? 0 : gamma / curvature;
  }
  bool goes_on() const { return square_ > goal_ && taken_ < most_ && !ended_; }
  Outcome outcome() const { return {taken_, std::sqrt(square_ / source_)}; }

  State& s_;
  M& m_;
  Vectors& v_;
  fl::Part own_;
  fl::Index taken_ = 0, most_;
  double square_ = 0, source_ = 0, goal_ = 0;
  bool ended_ = false;
};

}  // namespace cg
