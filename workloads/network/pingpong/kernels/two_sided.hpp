// The order of a round trip, and MPI's calls with the arguments that all two-sided variants share.
#pragma once

#include <mpi.h>

#include "pingpong.hpp"

namespace pingpong {

inline void send(const State& s, const End& e) { MPI_Send(e.out, static_cast<int>(s.bytes), MPI_BYTE, e.peer, 0, MPI_COMM_WORLD); }

inline void receive(const State& s, const End& e) {
  MPI_Recv(e.in, static_cast<int>(s.bytes), MPI_BYTE, e.peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// There and back, with whatever functions send and receive.
template <class Send, class Receive>
inline void round_trip(State& s, Send send, Receive receive) {
  const End& e = s.ends[0];
  if (e.first) {
    send(s, e);
    receive(s, e);
  } else {
    receive(s, e);
    answer(s, e);
    send(s, e);
  }
}

}  // namespace pingpong
