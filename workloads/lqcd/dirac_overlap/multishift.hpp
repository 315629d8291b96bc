// Conjugate gradients on (A + shift_l) x_l = b for all shifts at once, A hermitian and positive; what is kept is only
// y = sum_l weight_l x_l. Jegerlehner, hep-lat/9612014. One application an iteration.
#pragma once

#include <cmath>

#include "../solvers.hpp"

namespace lqcd {

template <int W>
class MultishiftCg {
 public:
  using F = Field<double>;
  MultishiftCg(Algebra<double, W>& algebra, std::size_t shifts) : a_(algebra), r_(a_.field()), p_(a_.field()), q_(a_.field()) {
    for (std::size_t l = 0; l < shifts; ++l) directions_.push_back(a_.field());
  }

  // apply(q, p): q = (A + shift[0]) p, returns <p, q>. The shifts ascend: the first converges last, and a system leaves when its own residual is small.
  template <class Apply>
  Solved operator()(Apply&& apply, const std::vector<double>& shift, const std::vector<double>& weight, F& y, const F& b, Goal goal) {
    begin(shift, weight, y, b);
    const double start = rest_, stop = goal.tolerance * goal.tolerance * start;
    Solved solved;
    while (rest_ > stop && solved.iterations < goal.most) {
      const double alpha = rest_ / apply(q_, p_);
      const double before = std::exchange(rest_, a_.axpy_norm2(-alpha, q_, r_));
      step(alpha, rest_ / before);
      a_.advance(y, r_, moves_);
      while (systems_.size() > 1 && systems_.back().zeta * systems_.back().zeta * rest_ < stop) leave();
      a_.combine(rest_ / before, p_, 1, r_);
      ++solved.iterations;
    }
    solved.residual = std::sqrt(rest_ / start);
    return solved;
  }

 private:
  struct System {
    double apart = 0, weight = 0;  // its shift beyond the first
    double zeta = 1, before = 1;   // its residual is zeta r
  };

  void begin(const std::vector<double>& shift, const std::vector<double>& weight, F& y, const F& b) {
    a_.zero(y);
    a_.copy(r_, b);
    a_.copy(p_, b);
    rest_ = a_.norm2(b);
    alpha_ = 1;
    beta_ = 0;
    systems_.clear();
    moves_.clear();
    for (std::size_t l = 0; l < shift.size(); ++l) {
      a_.copy(directions_[l], b);
      systems_.push_back({.apart = shift[l] - shift[0], .weight = weight[l]});
      moves_.push_back({.p = &directions_[l]});
    }
  }

  // The factors of every system follow from those of the first: x_0 += alpha p_0, p_0 = r + beta p_0.
  void step(double alpha, double beta) {
    for (std::size_t l = 0; l < systems_.size(); ++l) {
      System& s = systems_[l];
      const double zeta = s.zeta * s.before * alpha_ / (alpha * beta_ * (s.before - s.zeta) + s.before * alpha_ * (1 + s.apart * alpha));
      const double ratio = zeta / s.zeta;
      moves_[l].a = s.weight * alpha * ratio;
      moves_[l].z = zeta;
      moves_[l].b = beta * ratio * ratio;
      s.before = std::exchange(s.zeta, zeta);
    }
    alpha_ = alpha;
    beta_ = beta;
  }

  void leave() {
    systems_.pop_back();
    moves_.pop_back();
  }

  Algebra<double, W>& a_;
  F r_, p_, q_;
  std::vector<F> directions_;
  std::vector<System> systems_;
  std::vector<typename Algebra<double, W>::Shift> moves_;
  double rest_ = 0, alpha_ = 1, beta_ = 0;
};

}  // namespace lqcd
