// Persistent requests: the arguments are handed over once, each phase is one start and one wait.
#include "kernels/sides.hpp"

namespace {

struct Exchange {
  halo::Sides all;
  std::array<std::array<MPI_Request, 4>, 2> requests;  // of each phase; null along a dimension of one process

  void open(halo::State& s) {
    all.open(s);
    for (std::size_t way = 0; way < halo::sides; ++way) {
      const halo::Side& side = all.side[way];
      auto& phase = requests[way / 2];
      phase[way % 2] = phase[2 + way % 2] = MPI_REQUEST_NULL;
      if (side.here) continue;
      MPI_Recv_init(side.receive.data, side.receive.count, side.receive.type, side.peer, side.in_tag, MPI_COMM_WORLD, &phase[way % 2]);
      MPI_Send_init(side.send.data, side.send.count, side.send.type, side.peer, side.out_tag, MPI_COMM_WORLD, &phase[2 + way % 2]);
    }
  }

  void close(halo::State&) {
    for (auto& phase : requests)
      for (MPI_Request& request : phase)
        if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
    all.close();
  }

  void step(halo::State& s, fl::Index) {
    halo::two_packed_phases(s, all, [this](const halo::Side& low, const halo::Side&) {
      auto& phase = requests[static_cast<std::size_t>(low.way) / 2];
      MPI_Startall(4, phase.data());
      MPI_Waitall(4, phase.data(), MPI_STATUSES_IGNORE);
    });
  }
};

}  // namespace

FL_VARIANT(halo, Exchange, .refuse = halo::narrow_in_place)
