// One-sided: post, start, put, complete, wait. Each process waits for its neighbours only, where a fence waits for all.
#include "window.hpp"

namespace {

halo::Sides all;
halo::SidesWindow line;
std::array<MPI_Group, 2> neighbours;  // of each phase

void prepare(halo::State& s) {
  line.open(s, &all, 1, false);
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  for (std::size_t phase = 0; phase < 2; ++phase) {
    const int peers[2] = {all.side[2 * phase].peer, all.side[2 * phase + 1].peer};
    MPI_Group_incl(world, peers[0] == peers[1] ? 1 : 2, peers, &neighbours[phase]);
  }
  MPI_Group_free(&world);
}

void finish(halo::State&) {
  for (MPI_Group& group : neighbours) MPI_Group_free(&group);
  all.close();
  line.close();
}

void step(halo::State& s, fl::Index) {
  halo::two_phases(s, all, [&](const halo::Side& low, const halo::Side& high) {
    const MPI_Group group = neighbours[static_cast<std::size_t>(low.way) / 2];
    MPI_Win_post(group, 0, line.window());
    pack(s, low);
    pack(s, high);
    MPI_Win_start(group, 0, line.window());
    line.put(low, high);
    line.put(high, low);
    MPI_Win_complete(line.window());
    MPI_Win_wait(line.window());
    unpack(s, low);
    unpack(s, high);
  });
}

}  // namespace

FL_VARIANT(halo, step, .refuse = FL_REFUSE(halo, halo::narrow_in_place), .setup = FL_HOOK(halo, prepare), .finish = FL_HOOK(halo, finish))
