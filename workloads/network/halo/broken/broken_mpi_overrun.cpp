// Wrong: one row too many is unpacked, from the north into the interior, from the west behind the field.
#include "kernels/sides.hpp"

namespace {

struct Exchange : halo::OpenSides {
  void step(halo::State& s, fl::Index) {
    halo::two_packed_phases(s, all, [&](const halo::Side& low, const halo::Side& high) {
      halo::exchange(low, high);
      halo::Region longer = low.in;
      ++longer.rows;
      unpack(s, low.inbox, s.domains[0].field, longer);
    });
  }
};

}  // namespace

FL_VARIANT(halo, Exchange, .refuse = halo::packed_only, .traits = {.needs_neighbours = true})
