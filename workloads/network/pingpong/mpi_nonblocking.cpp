// MPI_Isend and MPI_Irecv, each followed by its wait; the receive is posted before the message can have been sent.
#include "kernels/two_sided.hpp"

namespace {

void step(pingpong::State& s, fl::Index) {
  const pingpong::End& e = s.ends[0];
  const auto bytes = static_cast<int>(s.bytes);
  MPI_Request incoming, outgoing;
  MPI_Irecv(e.in, bytes, MPI_BYTE, e.peer, 0, MPI_COMM_WORLD, &incoming);
  if (!e.first) {
    MPI_Wait(&incoming, MPI_STATUS_IGNORE);
    pingpong::answer(s, e);
  }
  MPI_Isend(e.out, bytes, MPI_BYTE, e.peer, 0, MPI_COMM_WORLD, &outgoing);
  if (e.first) MPI_Wait(&incoming, MPI_STATUS_IGNORE);
  MPI_Wait(&outgoing, MPI_STATUS_IGNORE);
}

}  // namespace

FL_VARIANT(pingpong, step)
