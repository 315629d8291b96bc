// The overlap operator D_ov = 1/2 (1 + g5 sign(H)), H = g5 D(-rho), by a rational approximation of the sign:
//
//   sign(H) psi = H y,   y = sum_l weight_l (H^2 + shift_l)^-1 psi,   D_ov psi = 1/2 (psi + D(-rho) y).
//
// Neuberger, Phys. Lett. B 417 (1998) 141. H^2 = g5 D g5 D; Hop is a hopping term as in ../even_odd.hpp.
#pragma once

#include <algorithm>

#include "../algebra.hpp"
#include "multishift.hpp"
#include "zolotarev.hpp"

namespace lqcd {

// D(m0) on the sites of both parities, without preconditioning.
template <class Hop>
class WholeOperator {
 public:
  WholeOperator(const Layout& layout, int threads, const double* links, double mass)
      : layout_(layout), hop_(layout_, threads), links_(links), diagonal_(4 + mass) {}
  WholeOperator(const WholeOperator&) = delete;

  // out = a D in
  void apply(Field<double>& out, const Field<double>& in, double a = 1) {
    const Index odd = layout_.parity_offset(1);
    const double *even_in = in.data(), *odd_in = even_in + odd;
    hop_.apply(0, links_, odd_in, even_in, out.data(), a * diagonal_, -0.5 * a);
    hop_.apply(1, links_, even_in, odd_in, out.data() + odd, a * diagonal_, -0.5 * a);
  }

 private:
  Layout layout_;
  Hop hop_;
  const double* links_;
  double diagonal_;
};

// |eigenvalues of H| lie in [least, most].
struct Bounds {
  double least = 0, most = 0;
};

template <class Hop>
class Overlap {
 public:
  static constexpr int lanes = Hop::lanes;

  Overlap(const Layout& layout, int threads, const double* links, double rho, Bounds bounds, int poles)
      : algebra_(layout.spinor_size(), threads, Hop::reduce, 2),
        operator_(layout, threads, links, -rho),
        approximation_(poles, bounds.least / bounds.most),
        multishift_(algebra_, static_cast<std::size_t>(poles)),
        y_(algebra_.field()),
        u_(algebra_.field()) {
    for (double& shift : approximation_.shift) shift *= bounds.most * bounds.most;
    for (double& weight : approximation_.weight) weight *= bounds.most;
  }

  Algebra<double, lanes>& algebra() { return algebra_; }
  Zolotarev& approximation() { return approximation_; }  // in units of the lattice

  // out = scale D_ov psi
  Solved apply(Field<double>& out, const Field<double>& psi, double scale, Goal goal) {
    const Solved solved = gather(psi, goal);
    operator_.apply(out, y_, scale / 2);
    algebra_.axpy(scale / 2, psi, out);
    return solved;
  }

  // out = sign(H) psi
  Solved sign(Field<double>& out, const Field<double>& psi, Goal goal) {
    const Solved solved = gather(psi, goal);
    operator_.apply(out, y_);
    algebra_.turn(out);
    return solved;
  }

 private:
  Solved gather(const Field<double>& psi, Goal goal) {
    const double first = approximation_.shift[0];
    const auto squared = [&](Field<double>& q, const Field<double>& p) {
      operator_.apply(u_, p);
      algebra_.turn(u_);
      operator_.apply(q, u_);
      return algebra_.turned_shift_dot(q, first, p);
    };
    return multishift_(squared, approximation_.shift, approximation_.weight, y_, psi, goal);
  }

  Algebra<double, lanes> algebra_;
  WholeOperator<Hop> operator_;
  Zolotarev approximation_;
  MultishiftCg<lanes> multishift_;
  Field<double> y_, u_;
};

// The number of eigenvalues below x of a symmetric tridiagonal matrix (Sturm's sequence).
inline int below(const std::vector<double>& diagonal, const std::vector<double>& off_diagonal, double x) {
  int count = 0;
  double q = 1;
  for (std::size_t k = 0; k < diagonal.size(); ++k) {
    q = diagonal[k] - x - (k > 0 ? off_diagonal[k - 1] * off_diagonal[k - 1] / q : 0);
    if (q == 0) q = 1e-300;
    if (q < 0) ++count;
  }
  return count;
}

// The smallest eigenvalue of a symmetric tridiagonal matrix with eigenvalues from 0 to `most`.
inline double smallest(const std::vector<double>& diagonal, const std::vector<double>& off_diagonal, double most) {
  double low = 0, high = most;
  for (int k = 0; k < 60; ++k) {
    const double middle = (low + high) / 2;
    (below(diagonal, off_diagonal, middle) > 0 ? high : low) = middle;
  }
  return low;
}

// The smallest eigenvalue of H^2 by Lanczos from a given vector, from above, and less `margin` of it; the largest from the norm of the
// hopping term, which is 4 at most. Half as many steps more must not find one that is smaller by `margin`.
template <class Hop>
Bounds bounds(const Layout& layout, int threads, const double* links, double rho, const Field<double>& start, double margin) {
  Algebra<double, Hop::lanes> a(layout.spinor_size(), threads, Hop::reduce);
  WholeOperator<Hop> d(layout, threads, links, -rho);
  Field<double> v = a.field(), before = a.field(), w = a.field(), u = a.field();
  std::vector<double> diagonal, off_diagonal;
  a.zero(before);
  a.zero(v);
  a.axpy(1 / std::sqrt(a.norm2(start)), start, v);
  const double most = std::abs(4 - rho) + 4;
  double low = most * most;
  for (std::size_t look = 40; look <= 5000;) {
    d.apply(u, v);
    a.turn(u);
    d.apply(w, u);
    a.turn(w);
    diagonal.push_back(a.dot(v, w));
    a.axpy(-diagonal.back(), v, w);
    const double next = std::sqrt(a.axpy_norm2(off_diagonal.empty() ? 0 : -off_diagonal.back(), before, w));
    const bool complete = !(next > 1e-10);
    if (complete || diagonal.size() == look) {
      const double found = smallest(diagonal, off_diagonal, most * most);
      const bool settled = found >= low * (1 - margin);
      low = found;
      if (complete || settled) break;
      look += look / 2;
    }
    off_diagonal.push_back(next);
    std::swap(before, v);
    std::swap(v, w);
    a.combine(1 / next, v, 0, v);
  }
  return {std::sqrt(low) * (1 - margin), most};
}

}  // namespace lqcd
