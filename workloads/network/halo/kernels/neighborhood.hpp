// What the neighbourhood collectives share: for each phase a communicator whose graph joins the two neighbours of one dimension.
//
// The order of the lists is the order in which messages between the same two processes are matched: what is sent first, to the low
// side, arrives on the neighbour's high side. A Cartesian communicator leaves that open where a dimension has two processes.
#pragma once

#include "sides.hpp"

namespace halo {

struct Neighborhood {
  MPI_Comm graph = MPI_COMM_NULL;
  std::array<int, 2> send_counts{}, receive_counts{};
  std::array<MPI_Aint, 2> sends{}, receives{};  // absolute addresses
  std::array<MPI_Datatype, 2> send_types{}, receive_types{};

  void open(const Side& low, const Side& high) {
    const int from[2] = {high.peer, low.peer}, to[2] = {low.peer, high.peer};
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, from, MPI_UNWEIGHTED, 2, to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    describe({&high.receive, &low.receive}, receive_counts, receives, receive_types);
    describe({&low.send, &high.send}, send_counts, sends, send_types);
  }

  void close() {
    if (graph != MPI_COMM_NULL) MPI_Comm_free(&graph);
  }

 private:
  static void describe(std::array<const Message*, 2> messages, std::array<int, 2>& counts, std::array<MPI_Aint, 2>& places,
                       std::array<MPI_Datatype, 2>& types) {
    for (std::size_t k = 0; k < 2; ++k) {
      counts[k] = messages[k]->count;
      types[k] = messages[k]->type;
      MPI_Get_address(messages[k]->data, &places[k]);
    }
  }
};

// Both phases; none along a dimension of one process. The structs that exchange derive from it.
struct Neighborhoods {
  Sides all;
  std::array<Neighborhood, 2> phase;

  void open(State& s) {
    all.open(s);
    for (std::size_t k = 0; k < 2; ++k)
      if (!all.side[2 * k].here) phase[k].open(all.side[2 * k], all.side[2 * k + 1]);
  }

  void close(State&) {
    for (Neighborhood& each : phase) each.close();
    all.close();
  }

  // `swap` exchanges all messages of one phase.
  template <class Swap>
  void each_phase(const State& s, Swap swap) {
    two_packed_phases(s, all, [&](const Side& low, const Side&) { swap(static_cast<std::size_t>(low.way) / 2); });
  }
};

}  // namespace halo
