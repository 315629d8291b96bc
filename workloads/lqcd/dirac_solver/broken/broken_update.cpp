// Wrong on purpose: x moves along the direction of the iteration that follows. The residual of the recursion does not notice.
#include "kernels/solver.hpp"

namespace {

using Real = double;

void step(dirac_solver::State& s, fl::Index) {
  lqcd::Algebra<Real, 1> a(s.layout.spinor_size() / 2, 1);
  lqcd::EvenOdd<Real, lqcd::ScalarHop<Real>> dhat(s.layout, 1, s.links.data(), s.mass);
  lqcd::Field<Real> r = a.field(), p = a.field(), q = a.field(), x = a.field();
  const double tolerance = dirac_solver::goal(s).tolerance;
  a.zero(x);
  dhat.source(r, s.b.data(), s.scale);
  const double start = a.norm2(r);
  a.turn(r);
  dhat.apply(p, r);
  a.turn(p);
  double gamma = a.norm2(p), rest = start;
  for (s.outcome.iterations = 0; rest > tolerance * tolerance * start && s.outcome.iterations < 1000; ++s.outcome.iterations) {
    dhat.apply(q, p);
    const double alpha = gamma / a.norm2(q);
    rest = a.turned_axpy_norm2(-alpha, q, r);
    dhat.apply(q, r);
    const double before = std::exchange(gamma, a.norm2(q));
    a.turned_combine(1, q, gamma / before, p);
    a.axpy(alpha, p, x);
  }
  s.outcome.residual = std::sqrt(rest / start);
  a.copy(s.x.data(), x.data());
  dhat.odd_part(s.x.data(), x, s.b.data(), s.scale);
}

}  // namespace

FL_VARIANT(dirac_solver, step)
