// As mpi_nonblocking, with requests that are made once for all repetitions.
#include "kernels/steps.hpp"

namespace {

struct Prepared {
  std::vector<std::vector<MPI_Request>> receives, sends;  // of each phase

  void open(const patterns::State& s) {
    for (const patterns::Stage& g : s.stages) {
      receives.emplace_back();
      for (const patterns::Channel& c : g.in)
        MPI_Recv_init(c.words, static_cast<int>(c.n), MPI_UINT64_T, c.peer, 0, MPI_COMM_WORLD, &receives.back().emplace_back());
      sends.emplace_back();
      for (const patterns::Channel& c : g.out)
        MPI_Send_init(c.words, static_cast<int>(c.n), MPI_UINT64_T, c.peer, 0, MPI_COMM_WORLD, &sends.back().emplace_back());
    }
  }

  void close() {
    for (auto* all : {&receives, &sends})
      for (auto& requests : *all)
        for (MPI_Request& request : requests) MPI_Request_free(&request);
  }

  void exchange(const patterns::State& s, patterns::Stage& g, std::size_t phase, fl::Index t) {
    auto &in = receives[phase], &out = sends[phase];
    if (!in.empty()) MPI_Startall(static_cast<int>(in.size()), in.data());
    for (const patterns::Channel& c : g.out) renew(s, c, t);
    if (!out.empty()) MPI_Startall(static_cast<int>(out.size()), out.data());
    MPI_Waitall(static_cast<int>(in.size()), in.data(), MPI_STATUSES_IGNORE);
    MPI_Waitall(static_cast<int>(out.size()), out.data(), MPI_STATUSES_IGNORE);
  }
};

using Iteration = patterns::Steps<Prepared>;

}  // namespace

FL_VARIANT(patterns, Iteration)
