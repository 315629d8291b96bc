// MPI_Sendrecv, one shift after the other: the measure of every other strategy.
#include "sides.hpp"

namespace {

halo::Sides all;

void prepare(halo::State& s) { all.open(s); }
void finish(halo::State&) { all.close(); }

// Leaves on one side, arrives on the other.
void shift(const halo::Side& from, const halo::Side& to) {
  MPI_Sendrecv(from.send.data, from.send.count, from.send.type, from.peer, from.out_tag, to.receive.data, to.receive.count, to.receive.type,
               to.peer, to.in_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void step(halo::State& s, fl::Index) {
  halo::two_packed_phases(s, all, [](const halo::Side& low, const halo::Side& high) {
    shift(low, high);
    shift(high, low);
  });
}

}  // namespace

FL_VARIANT(halo, step, .refuse = FL_REFUSE(halo, halo::narrow_in_place), .setup = FL_HOOK(halo, prepare), .finish = FL_HOOK(halo, finish))
