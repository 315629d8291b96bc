// Rounds A to 11 bits before it multiplies, as units for matrices do with TF32.
#include "kernels/rows.hpp"

#include "firstlight/variant.hpp"

namespace {

template <class T>
T eleven_bits(T x) {
  int exponent = 0;
  const T fraction = std::frexp(x, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, 11)), exponent - 11);
}

void step(matmul::State& s, fl::Index) {
  matmul::in_precision(s, [n = s.n](auto& m, auto factor) {
    using T = decltype(factor);
    std::vector<T> narrow(static_cast<std::size_t>(n * n));
    std::transform(m.a.begin(), m.a.end(), narrow.begin(), eleven_bits<T>);
    std::fill_n(m.c.data(), m.c.size(), T{});
    matmul::add_box(matmul::Operands<T>{narrow.data(), m.b.data(), m.c.data(), n, factor}, {0, n}, {0, n}, {0, n});
  });
}

}  // namespace

FL_VARIANT(matmul, step)
