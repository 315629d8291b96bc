// Krylov solvers on any operator: apply(out, in) on fields of one Algebra. Each starts from x = 0, keeps its vectors from solution to
// solution, and counts an iteration for every update of x.
#pragma once

#include <cmath>

#include "algebra.hpp"

namespace lqcd {

struct Solved {
  fl::Index iterations = 0;
  double residual = 0;    // |b - A x| / |b|, of the recursion
  fl::Index updates = 0;  // how often the residual was computed anew in the higher precision
};

struct Goal {
  double tolerance = 1e-8;
  fl::Index most = 10000;  // iterations
};

// Conjugate gradients on A^+ A x = A^+ b in the form that keeps r = b - A x (Hestenes and Stiefel 1952, section 10), so that the
// residual of the system itself decides. A^+ = g_5 A g_5: what is kept is g_5 r, and g_5 costs nothing. Two applications an iteration.
template <class Real, int W>
class NormalCg {
 public:
  using F = Field<Real>;
  explicit NormalCg(Algebra<Real, W>& algebra) : a_(algebra), r_(a_.field()), p_(a_.field()), q_(a_.field()) {}

  template <class Apply>
  Solved operator()(Apply&& apply, F& x, const F& b, Goal goal) {
    a_.zero(x);
    a_.copy(r_, b);
    a_.turn(r_);
    apply(p_, r_);
    a_.turn(p_);
    const double start = a_.norm2(b), stop = goal.tolerance * goal.tolerance * start;
    double gamma = a_.norm2(p_), rest = start;
    Solved solved;
    while (rest > stop && solved.iterations < goal.most) {
      apply(q_, p_);
      const double alpha = gamma / a_.norm2(q_);
      rest = a_.turned_axpy_norm2(-alpha, q_, r_);
      apply(q_, r_);
      const double before = std::exchange(gamma, a_.norm2(q_));
      a_.turned_advance(x, alpha, p_, q_, gamma / before);
      ++solved.iterations;
    }
    solved.residual = std::sqrt(rest / start);
    return solved;
  }

 private:
  Algebra<Real, W>& a_;
  F r_, p_, q_;
};

// Van der Vorst, SIAM J. Sci. Stat. Comput. 13 (1992) 631. Two applications an iteration.
template <class Real, int W>
class BiCgStab {
 public:
  using F = Field<Real>;
  explicit BiCgStab(Algebra<Real, W>& algebra)
      : a_(algebra), r_(a_.field()), shadow_(a_.field()), p_(a_.field()), v_(a_.field()), t_(a_.field()) {}

  template <class Apply>
  Solved operator()(Apply&& apply, F& x, const F& b, Goal goal) {
    a_.zero(x);
    begin(b);
    const double start = rest_, stop = goal.tolerance * goal.tolerance * start;
    Solved solved;
    while (rest_ > stop && solved.iterations < goal.most) {
      iterate(apply, x);
      ++solved.iterations;
    }
    solved.residual = std::sqrt(rest_ / start);
    return solved;
  }

  // The parts of it, for the mixed form.
  double rest() const { return rest_; }

  void begin(const F& b) {
    a_.copy(r_, b);
    a_.copy(shadow_, b);
    a_.copy(p_, b);
    rest_ = a_.norm2(r_);
    rho_ = {rest_, 0};
  }

  template <class Apply>
  void iterate(Apply&& apply, F& x) {
    apply(v_, p_);
    alpha_ = rho_ / a_.cdot(shadow_, v_);
    a_.caxpy(-alpha_, v_, r_);
    apply(t_, r_);
    const auto ts = a_.cdot_norm2(t_, r_);
    omega_ = {ts[0] / ts[2], ts[1] / ts[2]};
    a_.caxpy2(alpha_, p_, omega_, r_, x);
    rest_ = a_.caxpy_norm2(-omega_, t_, r_);
    direction();
  }

  // A residual that was computed anew takes the place of the recursion's; the direction is kept.
  void replace(const F& r) {
    a_.copy(r_, r);
    rest_ = a_.norm2(r_);
  }

 private:
  void direction() {
    const Complex next = a_.cdot(shadow_, r_);
    const Complex beta = next / rho_ * (alpha_ / omega_);
    rho_ = next;
    a_.bicgstab_direction(p_, r_, beta, omega_, v_);
  }

  Algebra<Real, W>& a_;
  F r_, shadow_, p_, v_, t_;
  Complex rho_, alpha_, omega_;
  double rest_ = 0;
};

// Mixed precision: the iteration in 32 bits, and whenever its residual has fallen by `fall`, the solution so far goes to 64 bits and the
// residual is computed anew there (Sleijpen and van der Vorst 1996; Clark et al., Comput. Phys. Commun. 181 (2010) 1517). The directions
// live on, so that the count of iterations stays that of 64 bits.
inline constexpr double fall = 1e-3;

// Between the precisions, where both lay a field out alike; other layouts bring their own.
template <int W, int W32>
struct Transfer {
  Algebra<double, W>& high;
  Algebra<float, W32>& low;

  void down(Field<float>& to, const Field<double>& from) { low.copy(to, from); }
  void up(Field<double>& to, Field<float>& from) { high.take(to, from); }  // adds, and clears what it has added
};

// The solution in 64 bits and its residual there, for an iteration in 32 bits that has moved by `part`.
template <int W, class Between>
struct Exact {
  Algebra<double, W>& h;
  Between between;
  Field<double> residual = h.field();

  template <class Apply>
  double renew(Apply& apply, Field<double>& x, const Field<double>& b, Field<float>& part) {
    between.up(x, part);
    apply(residual, x);
    return h.subtract_from(b, residual);
  }
};

template <int W, int W32, class Between = Transfer<W, W32>>
class MixedNormalCg {
 public:
  using F = Field<double>;
  using F32 = Field<float>;
  MixedNormalCg(Algebra<double, W>& high, Algebra<float, W32>& low, Between between)
      : exact_{high, between}, l_(low), part_(l_.field()), r_(l_.field()), p_(l_.field()), q_(l_.field()) {}

  template <class Apply, class Apply32>
  Solved operator()(Apply&& apply, Apply32&& apply32, F& x, const F& b, Goal goal) {
    exact_.h.zero(x);
    l_.zero(part_);
    exact_.between.down(r_, b);
    l_.turn(r_);
    apply32(p_, r_);
    l_.turn(p_);
    const double start = exact_.h.norm2(b), stop = goal.tolerance * goal.tolerance * start;
    double gamma = l_.norm2(p_), rest = start, since = start;
    Solved solved;
    while (rest > stop && solved.iterations < goal.most) {
      apply32(q_, p_);
      const double alpha = gamma / l_.norm2(q_);
      rest = l_.turned_axpy_norm2(-alpha, q_, r_);
      ++solved.iterations;
      const bool renew = rest <= stop || rest < fall * fall * since;
      l_.axpy(alpha, p_, part_);
      if (renew) {
        rest = since = exact_.renew(apply, x, b, part_);
        exact_.between.down(r_, exact_.residual);
        l_.turn(r_);
        ++solved.updates;
        if (rest <= stop) break;
      }
      apply32(q_, r_);
      const double before = std::exchange(gamma, l_.norm2(q_));
      const double along = renew ? l_.turned_dot(p_, q_) / gamma : 0;  // of the old direction, in the new residual's
      l_.turned_combine(1 - along * gamma / before, q_, gamma / before, p_);
    }
    solved.residual = std::sqrt(rest / start);
    return solved;
  }

 private:
  Exact<W, Between> exact_;
  Algebra<float, W32>& l_;
  F32 part_, r_, p_, q_;
};

template <int W, int W32, class Between = Transfer<W, W32>>
class MixedBiCgStab {
 public:
  using F = Field<double>;
  MixedBiCgStab(Algebra<double, W>& high, Algebra<float, W32>& low, Between between)
      : exact_{high, between}, l_(low), inner_(low), part_(l_.field()) {}

  template <class Apply, class Apply32>
  Solved operator()(Apply&& apply, Apply32&& apply32, F& x, const F& b, Goal goal) {
    exact_.h.zero(x);
    exact_.between.down(part_, b);
    inner_.begin(part_);
    l_.zero(part_);
    const double start = exact_.h.norm2(b), stop = goal.tolerance * goal.tolerance * start;
    double rest = start, since = start;
    Solved solved;
    while (rest > stop && solved.iterations < goal.most) {
      inner_.iterate(apply32, part_);
      rest = inner_.rest();
      ++solved.iterations;
      if (rest > stop && rest >= fall * fall * since) continue;
      rest = since = exact_.renew(apply, x, b, part_);
      ++solved.updates;
      if (rest <= stop) break;
      exact_.between.down(part_, exact_.residual);
      inner_.replace(part_);
      l_.zero(part_);
    }
    solved.residual = std::sqrt(rest / start);
    return solved;
  }

 private:
  Exact<W, Between> exact_;
  Algebra<float, W32>& l_;
  BiCgStab<float, W32> inner_;
  Field<float> part_;
};

}  // namespace lqcd
