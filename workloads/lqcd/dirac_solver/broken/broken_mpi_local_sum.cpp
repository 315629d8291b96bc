// Wrong on purpose: the denominator of a step's length is the sum of this process alone.
#include "../even_odd.hpp"
#include "../exchanged_hop.hpp"
#include "dirac_solver.hpp"

namespace {

using Hop = lqcd::ExchangedHop<double>;
constexpr fl::Index most = 30;

void step(dirac_solver::State& s, fl::Index) {
  lqcd::Algebra<double, Hop::lanes> a(s.layout.spinor_size() / 2, 1, Hop::reduce), here(s.layout.spinor_size() / 2, 1);
  lqcd::EvenOdd<double, Hop> dhat(s.layout, 1, s.links.data(), s.mass);
  lqcd::Field<double> r = a.field(), p = a.field(), q = a.field(), x = a.field();
  a.zero(x);
  dhat.source(r, s.b.data(), s.scale);
  const double start = a.norm2(r);
  a.turn(r);
  dhat.apply(p, r);
  a.turn(p);
  double gamma = a.norm2(p), rest = start;
  for (s.outcome.iterations = 0; rest > 1e-16 * start && s.outcome.iterations < most; ++s.outcome.iterations) {
    dhat.apply(q, p);
    const double alpha = gamma / here.norm2(q);
    rest = a.turned_axpy_norm2(-alpha, q, r);
    dhat.apply(q, r);
    const double before = std::exchange(gamma, a.norm2(q));
    a.turned_advance(x, alpha, p, q, gamma / before);
  }
  s.outcome.residual = std::sqrt(rest / start);
  a.copy(s.x.data(), x.data());
  dhat.odd_part(s.x.data(), x, s.b.data(), s.scale);
}

}  // namespace

FL_VARIANT(dirac_solver, step, .traits = {.vector_bytes = fl::simd::bytes, .several_processes = true})
