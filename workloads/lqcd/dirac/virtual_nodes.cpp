// A sub-lattice for each SIMD lane.
#include "kernels/vector_steps.hpp"

#include "firstlight/variant.hpp"

namespace {

struct Operator {
  dirac::Orders orders;

  void open(dirac::State& s) { orders = dirac::orders(s); }

  void step(dirac::State& s, fl::Index) {
    dirac::in_precision(s, [&](auto& a) {
      const dirac::Part all;
      switch (s.op) {
        case dirac::Op::d:
          return dirac::hop_part<true>(dirac::job_of_d(s, a), orders.both, all);
        case dirac::Op::dhat:
          dirac::hop_part<false>(dirac::job_to_odd(s, a), orders.odd, all);
          return dirac::hop_part<true>(dirac::job_to_even(s, a), orders.even, all);
        case dirac::Op::axpy:
          return dirac::axpy_part(s, a, all);
        case dirac::Op::dot:
          s.sum = s.scale * dirac::dot_part(a, all);
          return;
        case dirac::Op::norm:
          s.sum = s.scale * dirac::norm_part(a, all);
      }
    });
  }
};

}  // namespace

FL_VARIANT(dirac, Operator, .traits = {.vector_bytes = fl::simd::bytes})
