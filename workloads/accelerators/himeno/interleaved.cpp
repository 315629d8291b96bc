// The coefficients in one stream, and stores past the caches: the same bytes in another order.
#include "kernels/interleaved.hpp"

#include "firstlight/variant.hpp"

namespace {

struct Streamed {
  himeno::Interleaved lines;

  void open(himeno::State& s) {
    lines.allocate(s);
    lines.fill(s, s.block.cells());
  }
  void step(himeno::State& s, fl::Index) {
    himeno::run(s, himeno::Lines<himeno::past_caches>{lines});
    fl::nontemporal::fence();
  }
};

}  // namespace

FL_VARIANT(himeno, Streamed, .traits = {.bytes_a_point = himeno::bytes_past_caches})
