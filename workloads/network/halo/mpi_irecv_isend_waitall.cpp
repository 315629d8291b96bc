// Receives are posted, sends are started, and all four are waited for: the usual form.
#include "kernels/sides.hpp"

namespace {

struct Exchange : halo::OpenSides {
  void step(halo::State& s, fl::Index) {
    halo::two_packed_phases(s, all, [](const halo::Side& low, const halo::Side& high) { halo::exchange(low, high); });
  }
};

}  // namespace

FL_VARIANT(halo, Exchange, .refuse = halo::narrow_in_place)
