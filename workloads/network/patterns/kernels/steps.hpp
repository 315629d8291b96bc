// What all variants share: an iteration as passes of phases, and collective operations by the MPI library's own calls.
#pragma once

#include <mpi.h>

#include "patterns.hpp"

namespace patterns {

inline void operate(const Stage& g, MPI_Comm comm) {
  const auto n = static_cast<int>(g.n);
  const MPI_Datatype word = MPI_UINT64_T;
  switch (g.collective) {
    case Collective::broadcast:
      MPI_Bcast(g.given.words, n, word, g.root, comm);
      break;
    case Collective::reduce:
      MPI_Reduce(g.given.words, g.got.words, n, word, MPI_SUM, g.root, comm);
      break;
    case Collective::allreduce:
      MPI_Allreduce(g.given.words, g.got.words, n, word, MPI_SUM, comm);
      break;
    case Collective::allgather:
      MPI_Allgather(g.given.words, n, word, g.got.words, n, word, comm);
      break;
    case Collective::reduce_scatter:
      MPI_Reduce_scatter_block(g.given.words, g.got.words, n, word, MPI_SUM, comm);
      break;
    case Collective::alltoall:
      MPI_Alltoall(g.given.words, n, word, g.got.words, n, word, comm);
      break;
    case Collective::barrier:
      MPI_Barrier(comm);
      break;
    case Collective::other:  // no group: phases of messages
      break;
  }
}

// `Travel` has open(const State&), exchange(State&, Stage&, fl::Index phase, fl::Index t), which renews, sends and receives all messages of
// a phase, and close().
template <class Travel>
struct Steps {
  Travel travel;
  std::vector<MPI_Comm> groups;  // of each phase; null where it is none of a collective operation

  void open(State& s) {
    for (const Stage& g : s.stages) {
      groups.push_back(MPI_COMM_NULL);
      if (g.collective != Collective::other) MPI_Comm_split(MPI_COMM_WORLD, g.group.first, s.team.rank, &groups.back());
    }
    travel.open(s);
  }

  void close(State&) {
    travel.close();
    for (MPI_Comm& comm : groups)
      if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
  }

  void step(State& s, fl::Index) {
    for (const data::Pass& pass : s.passes)
      for (fl::Index k = 0; k < pass.times; ++k)
        for (const std::size_t phase : pass.phases) run(s, s.stages[phase], phase);
  }

 private:
  void run(State& s, Stage& g, std::size_t phase) {
    const fl::Index t = g.done++;
    if (g.collective != Collective::other) {
      if (gives(s, g)) renew(s, g.given, t);
      operate(g, groups[phase]);
      return;
    }
    travel.exchange(s, g, phase, t);
    for (Channel& c : g.in) count(c, t);
  }
};

inline void start_receive(const Channel& c, MPI_Request& request) {
  MPI_Irecv(c.words, static_cast<int>(c.n), MPI_UINT64_T, c.peer, 0, MPI_COMM_WORLD, &request);
}
inline void start_send(const Channel& c, MPI_Request& request) {
  MPI_Isend(c.words, static_cast<int>(c.n), MPI_UINT64_T, c.peer, 0, MPI_COMM_WORLD, &request);
}

// All receives, then all sends of a phase at once. `Altered` lets the broken variants do what they are there for.
struct AtOnce {
  std::vector<MPI_Request> requests;

  void open(const State&) {}
  void close() {}
  void exchange(const State& s, Stage& g, std::size_t, fl::Index t) {
    requests.resize(g.in.size() + g.out.size());
    std::size_t next = 0;
    for (const Channel& c : g.in) start_receive(c, requests[next++]);
    for (const Channel& c : g.out) {
      renew(s, c, t);
      start_send(c, requests[next++]);
    }
    MPI_Waitall(static_cast<int>(next), requests.data(), MPI_STATUSES_IGNORE);
  }
};

}  // namespace patterns
