// Wrong: sends the first message of each direction instead of all others.
#include "kernels/two_sided.hpp"

namespace {

struct Wrong : rdma::TwoSided {
  void step(rdma::State& s, fl::Index) {
    rdma::Party& p = s.all_parties[0];
    std::vector<MPI_Request> sends(static_cast<std::size_t>(s.all())), receives(sends.size());
    for (int m = 0; m < s.all(); ++m) {
      const int peer = s.source(p.me, s.direction_of(m)), first = s.direction_of(m) * s.messages;
      MPI_Irecv(in(s, p, p.set, m), static_cast<int>(s.words), MPI_DOUBLE, peer, m, by(s, m), &receives[static_cast<std::size_t>(m)]);
      MPI_Isend(out(s, p, first), static_cast<int>(s.words), MPI_DOUBLE, s.target(p.me, s.direction_of(m)), m, by(s, m),
                &sends[static_cast<std::size_t>(m)]);
    }
    MPI_Waitall(s.all(), receives.data(), MPI_STATUSES_IGNORE);
    MPI_Waitall(s.all(), sends.data(), MPI_STATUSES_IGNORE);
    for (int m = 0; m < s.all(); ++m) arrived(s, p, s.interface_of(m), s.source(p.me, s.direction_of(m)), m);
  }
};

}  // namespace

FL_VARIANT(rdma, Wrong, .refuse = rdma::puts_only)
