// Wrong: one row too many is unpacked, from the north into the interior, from the west behind the field.
#include "sides.hpp"

namespace {

halo::Sides all;

void prepare(halo::State& s) { all.open(s); }
void finish(halo::State&) { all.close(); }

void step(halo::State& s, fl::Index) {
  halo::two_packed_phases(s, all, [&](const halo::Side& low, const halo::Side& high) {
    halo::exchange(low, high);
    halo::Region longer = low.in;
    ++longer.rows;
    unpack(s, low.inbox, s.domains[0].field, longer);
  });
}

}  // namespace

FL_VARIANT(halo, step, .refuse = FL_REFUSE(halo, halo::packed_only), .setup = FL_HOOK(halo, prepare), .finish = FL_HOOK(halo, finish),
           .traits = halo::among_several)
