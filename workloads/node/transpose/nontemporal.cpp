// Squares transposed in registers and written past the caches.
#include "kernels/past_caches.hpp"

#include "firstlight/variant.hpp"

namespace {

struct NonTemporal {
  transpose::ToMemory all;

  void open(transpose::State& s) { all.open(s, {0, s.n}); }
  void step(transpose::State& s, fl::Index) { all.turn(s); }
};

}  // namespace

FL_VARIANT(transpose, NonTemporal, .refuse = transpose::past_caches_refuses)
