// Persistent requests: the arguments are handed over once, each message is a start and a wait.
#include "kernels/two_sided.hpp"

namespace {

struct RoundTrip {
  MPI_Request outgoing, incoming;

  void open(pingpong::State& s) {
    const pingpong::End& e = s.ends[0];
    const auto bytes = static_cast<int>(s.bytes);
    MPI_Send_init(e.out, bytes, MPI_BYTE, e.peer, 0, MPI_COMM_WORLD, &outgoing);
    MPI_Recv_init(e.in, bytes, MPI_BYTE, e.peer, 0, MPI_COMM_WORLD, &incoming);
  }

  void close(pingpong::State&) {
    MPI_Request_free(&outgoing);
    MPI_Request_free(&incoming);
  }

  void step(pingpong::State& s, fl::Index) {
    const pingpong::End& e = s.ends[0];
    MPI_Start(&incoming);
    if (!e.first) {
      MPI_Wait(&incoming, MPI_STATUS_IGNORE);
      pingpong::answer(s, e);
    }
    MPI_Start(&outgoing);
    if (e.first) MPI_Wait(&incoming, MPI_STATUS_IGNORE);
    MPI_Wait(&outgoing, MPI_STATUS_IGNORE);
  }
};

}  // namespace

FL_VARIANT(pingpong, RoundTrip)
