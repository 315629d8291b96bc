// RDMA is compared with this: the same messages by MPI_Isend and MPI_Irecv, all at once. An interface is a communicator of its own, by
// which a library may choose what a message goes over.
#pragma once

#include <mpi.h>

#include "rdma.hpp"

namespace rdma {

inline std::string puts_only(const Params& p) {
  return p.operation == Operation::put ? "" : "two-sided messages have no get; use operation=put";
}

struct TwoSided {
  std::array<MPI_Comm, most_interfaces> communicators{};
  std::vector<MPI_Request> requests;

  void open(State& s) {
    for (int i = 0; i < s.interfaces; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &communicators[static_cast<std::size_t>(i)]);
    requests.resize(static_cast<std::size_t>(2 * s.all()));
  }

  void close(State& s) {
    for (int i = 0; i < s.interfaces; ++i) MPI_Comm_free(&communicators[static_cast<std::size_t>(i)]);
  }

  MPI_Comm by(const State& s, int m) const { return communicators[static_cast<std::size_t>(s.interface_of(m))]; }

  void send(const State& s, const Party& p, int m, MPI_Request* request) const {
    MPI_Isend(out(s, p, m), static_cast<int>(s.words), MPI_DOUBLE, s.target(p.me, s.direction_of(m)), m, by(s, m), request);
  }

  void step(State& s, fl::Index) {
    Party& p = s.all_parties[0];
    const int all = s.all();
    for (int m = 0; m < all; ++m)
      MPI_Irecv(in(s, p, p.set, m), static_cast<int>(s.words), MPI_DOUBLE, s.source(p.me, s.direction_of(m)), m, by(s, m),
                &requests[static_cast<std::size_t>(m)]);
    for (int m = 0; m < all; ++m) send(s, p, m, &requests[static_cast<std::size_t>(all + m)]);
    MPI_Waitall(2 * all, requests.data(), MPI_STATUSES_IGNORE);
    for (int m = 0; m < all; ++m) arrived(s, p, s.interface_of(m), s.source(p.me, s.direction_of(m)), m);
  }
};

}  // namespace rdma
