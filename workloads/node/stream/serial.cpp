// The loops in their usual form.
#include "stream.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(stream::State& s, fl::Index) {
  const fl::Index n = s.n;
  const double* __restrict x = s.x.data();
  const double* __restrict y = s.y.data();
  double* __restrict out = s.out.data();
  constexpr double q = stream::q;
  switch (s.op) {
    case stream::Op::copy:
      for (fl::Index i = 0; i < n; ++i) out[i] = x[i];
      break;
    case stream::Op::scale:
      for (fl::Index i = 0; i < n; ++i) out[i] = q * x[i];
      break;
    case stream::Op::add:
      for (fl::Index i = 0; i < n; ++i) out[i] = x[i] + y[i];
      break;
    case stream::Op::triad:
      for (fl::Index i = 0; i < n; ++i) out[i] = x[i] + q * y[i];
      break;
    case stream::Op::load:
      double sum = 0;
      for (fl::Index i = 0; i < n; ++i) sum += x[i];
      s.result = sum;
  }
}

}  // namespace

FL_VARIANT(stream, step)
