// One-sided: post, start, put, complete, wait. Each process waits for its neighbours only, where a fence waits for all. A window a
// phase: MPICH 4.0 counts the posts of a window from any rank, so that a neighbour who is a phase ahead stands for one who
// has not posted yet, and both wait for ever.
#include "kernels/window.hpp"

namespace {

struct Exchange {
  halo::SidesWindow line;
  std::array<MPI_Win, 2> windows;
  std::array<MPI_Group, 2> neighbours;  // of each phase

  void open(halo::State& s) {
    line.open(s, 1, false);
    // Open MPI 4.1 makes no window on given memory for one process, which needs none.
    windows = {line.window(), s.team.ranks > 1 ? line.again() : line.window()};
    MPI_Group world = MPI_GROUP_NULL;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    for (std::size_t phase = 0; phase < 2; ++phase) {
      const auto& side = line.sets[0].side;
      const int peers[2] = {side[2 * phase].peer, side[2 * phase + 1].peer};
      MPI_Group_incl(world, peers[0] == peers[1] ? 1 : 2, peers, &neighbours[phase]);
    }
    MPI_Group_free(&world);
  }

  void close(halo::State&) {
    for (MPI_Group& group : neighbours) MPI_Group_free(&group);
    if (windows[1] != windows[0]) MPI_Win_free(&windows[1]);
    line.close();
  }

  void step(halo::State& s, fl::Index) {
    halo::two_phases(s, line.sets[0], [&](const halo::Side& low, const halo::Side& high) {
      const std::size_t phase = static_cast<std::size_t>(low.way) / 2;
      const MPI_Group group = neighbours[phase];
      const MPI_Win window = windows[phase];
      MPI_Win_post(group, 0, window);
      pack(s, low);
      pack(s, high);
      MPI_Win_start(group, 0, window);
      line.put(low, high, window);
      line.put(high, low, window);
      MPI_Win_complete(window);
      MPI_Win_wait(window);
      unpack(s, low);
      unpack(s, high);
    });
  }
};

}  // namespace

FL_VARIANT(halo, Exchange, .refuse = halo::narrow_in_place)
