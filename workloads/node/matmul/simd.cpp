// The packed product on one core.
#include "kernels/packed.hpp"

#include "firstlight/variant.hpp"

namespace {

struct Simd {
  matmul::BothPacked packed;

  void open(matmul::State& s) { packed.open(s); }
  void step(matmul::State& s, fl::Index) {
    packed.multiply(s, 0, 1, [] {});
  }
};

}  // namespace

FL_VARIANT(matmul, Simd)
