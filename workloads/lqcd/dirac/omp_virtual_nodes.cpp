// A sub-lattice for each SIMD lane, and a part of the rows for each thread.
#include <omp.h>

#include "kernels/placed_fields.hpp"
#include "kernels/vector_steps.hpp"

#include "firstlight/variant.hpp"

namespace {

dirac::Part my_part() { return {omp_get_thread_num(), omp_get_num_threads()}; }

template <class T>
void apply(const dirac::Orders& orders, dirac::State& s, dirac::Arrays<T>& a) {
  const bool hat = s.op == dirac::Op::dhat;
  const lqcd::Hop<T> first = hat ? dirac::job_to_odd(s, a) : dirac::job_of_d(s, a);
  const lqcd::Hop<T> second = dirac::job_to_even(s, a);
#pragma omp parallel num_threads(s.team.threads)
  {
    if (!hat) {
      dirac::hop_part<true>(first, orders.both, my_part());
    } else {
      dirac::hop_part<false>(first, orders.odd, my_part());
#pragma omp barrier
      dirac::hop_part<true>(second, orders.even, my_part());
    }
  }
}

template <class T>
void sum(dirac::State& s, const dirac::Arrays<T>& a) {
  double re = 0, im = 0;
#pragma omp parallel num_threads(s.team.threads) reduction(+ : re, im)
  {
    const dirac::Complex part = s.op == dirac::Op::dot ? dirac::dot_part(a, my_part()) : dirac::norm_part(a, my_part());
    re += part.re;
    im += part.im;
  }
  s.sum = {s.scale * re, s.scale * im};
}

struct Operator {
  dirac::Orders orders;

  void open(dirac::State& s) { orders = dirac::orders(s); }

  void step(dirac::State& s, fl::Index) {
    dirac::in_precision(s, [&](auto& a) {
      if (dirac::is_operator(s.op)) return apply(orders, s, a);
      if (s.op != dirac::Op::axpy) return sum(s, a);
#pragma omp parallel num_threads(s.team.threads)
      dirac::axpy_part(s, a, my_part());
    });
  }
};

}  // namespace

FL_VARIANT(dirac, Operator, .first_touch = dirac::place_fields, .traits = {.vector_bytes = fl::simd::bytes})
