// Receives are posted, sends are started, and all four are waited for: the usual form.
#include "sides.hpp"

namespace {

halo::Sides all;

void prepare(halo::State& s) { all.open(s); }
void finish(halo::State&) { all.close(); }

void step(halo::State& s, fl::Index) {
  halo::two_packed_phases(s, all, [](const halo::Side& low, const halo::Side& high) { halo::exchange(low, high); });
}

}  // namespace

FL_VARIANT(halo, step, .refuse = FL_REFUSE(halo, halo::narrow_in_place), .setup = FL_HOOK(halo, prepare), .finish = FL_HOOK(halo, finish))
