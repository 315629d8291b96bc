// The same over MPI.
#pragma once

#include <mpi.h>

#include "ways.hpp"

namespace fft::inline FL_ROLE {

inline int points(Index count) { return static_cast<int>(count); }  // of MPI_C_DOUBLE_COMPLEX, of which bytes would be too many for an int

// The library's all-to-all.
struct AllToAll {
  template <class Pack, class Unpack, class Keep>
  void operator()(const fl::Team& team, Buffers& b, Pack pack, Unpack unpack, Keep keep) {
    for (int q = 0; q < team.ranks; ++q)
      if (q != team.rank) pack(q);
    const Side out(b.to, team.ranks), in(b.from, team.ranks);
    MPI_Alltoallv(b.out.data(), out.counts.data(), out.places.data(), MPI_C_DOUBLE_COMPLEX, b.in.data(), in.counts.data(), in.places.data(),
                  MPI_C_DOUBLE_COMPLEX, MPI_COMM_WORLD);
    for (int q = 0; q < team.ranks; ++q)
      if (q != team.rank) unpack(q);
    keep();
  }

 private:
  struct Side {
    std::vector<int> counts, places;

    Side(const Parts& parts, int ranks) {
      for (int q = 0; q < ranks; ++q) {
        counts.push_back(points(parts.size(q)));
        places.push_back(points(parts.begin[static_cast<std::size_t>(q)]));
      }
    }
  };
};

// In each round with one process to send to and one to receive from, at growing distance.
struct Pairwise {
  template <class Pack, class Unpack, class Keep>
  void operator()(const fl::Team& team, Buffers& b, Pack pack, Unpack unpack, Keep keep) {
    keep();
    for (int away = 1; away < team.ranks; ++away) {
      const int to = (team.rank + away) % team.ranks, from = (team.rank + team.ranks - away) % team.ranks;
      pack(to);
      MPI_Sendrecv(b.to.of(b.out, to), points(b.to.size(to)), MPI_C_DOUBLE_COMPLEX, to, 0, b.from.of(b.in, from), points(b.from.size(from)),
                   MPI_C_DOUBLE_COMPLEX, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      unpack(from);
    }
  }
};

// All parts are under way at once: each leaves when it is packed, and is unpacked when it comes.
struct Overlapped {
  std::vector<MPI_Request> receiving, sending;

  template <class Pack, class Unpack, class Keep>
  void operator()(const fl::Team& team, Buffers& b, Pack pack, Unpack unpack, Keep keep) {
    receiving.assign(static_cast<std::size_t>(team.ranks), MPI_REQUEST_NULL);
    sending = receiving;
    for (int away = 1; away < team.ranks; ++away) {
      const int from = (team.rank + team.ranks - away) % team.ranks;
      MPI_Irecv(b.from.of(b.in, from), points(b.from.size(from)), MPI_C_DOUBLE_COMPLEX, from, 0, MPI_COMM_WORLD,
                &receiving[static_cast<std::size_t>(from)]);
    }
    for (int away = 1; away < team.ranks; ++away) {
      const int to = (team.rank + away) % team.ranks;
      pack(to);
      MPI_Isend(b.to.of(b.out, to), points(b.to.size(to)), MPI_C_DOUBLE_COMPLEX, to, 0, MPI_COMM_WORLD,
                &sending[static_cast<std::size_t>(to)]);
    }
    keep();
    for (int left = team.ranks - 1; left > 0; --left) {
      int from = 0;
      MPI_Waitany(team.ranks, receiving.data(), &from, MPI_STATUS_IGNORE);
      unpack(from);
    }
    MPI_Waitall(team.ranks, sending.data(), MPI_STATUSES_IGNORE);
  }
};

}  // namespace fft::inline FL_ROLE
