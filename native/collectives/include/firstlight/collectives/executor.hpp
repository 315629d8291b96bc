// Runs a schedule on MPI.
//
//   Channel channel(comm);                                             a communicator of its own, once
//   Execution sum(schedule, channel, {MPI_DOUBLE, MPI_SUM, n}, true);  the plan of this rank, once
//   sum.run(result, own);                                              as often as wanted, on every rank
//
// The program of this rank is unrolled into items (a message, an addition, a copy; trains segment by segment). Receives that wait
// for nothing are posted before anything is waited for. If every wait of the program in its order is one that all later items wait
// for anyway, the items become a list of MPI calls without any bookkeeping; else a ready list follows the dependencies, and
// MPI_Waitsome reports what has happened. Either way nothing waits longer than the schedule requires, so a schedule that is free
// of deadlocks is so here, for messages of any size.
//
// Where input and result lie apart, nothing is copied first: what the program has not written yet is read from the input, and the
// first contribution to a chunk is received right into the result.
//
// From the second run with the same buffers on, larger messages use persistent requests; small ones are faster without.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "firstlight/collectives/algorithm.hpp"
#include "firstlight/collectives/schedule.hpp"

namespace fl::collectives {

// A duplicate of a communicator, for messages that meet no others. Collective; to be destroyed before MPI_Finalize. All executions
// on one channel run one after the other, in the same order on all ranks.
class Channel {
 public:
  explicit Channel(MPI_Comm comm);
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  MPI_Comm comm() const { return comm_; }
  Rank rank() const { return rank_; }
  Rank ranks() const { return ranks_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  Rank rank_ = 0, ranks_ = 1;
};

// The elements that all chunks of a rank hold together: `count` of `type`, which must have no gaps, joined by `op` (commutative).
struct Elements {
  MPI_Datatype type = MPI_BYTE;
  MPI_Op op = MPI_OP_NULL;
  std::int64_t count = 0;
};

// What the data of one rank is divided into: as many elements in all as `count` a block or a message makes.
std::int64_t elements_of(Collective collective, std::int64_t count, Rank ranks);

// Returns the segments for a message of so many bytes if the user chose 0: pieces that two of fit into a core's own cache.
std::int32_t automatic_segments(const Algorithm& algorithm, Collective collective, double bytes, Rank ranks);

// Three axes as equal as the factors of `ranks` allow, for algorithms that want a torus; longest first.
std::vector<Rank> balanced_shape(Rank ranks);

// The schedule for a message, or for blocks, of so many bytes; `segments` 0: automatic. Raises Refused.
Schedule schedule_for(const Algorithm& algorithm, Collective collective, Rank ranks, Rank root, std::int32_t segments, double bytes);

class Execution {
 public:
  // `apart`: what is combined (reduce, allreduce, reduce_scatter), or the own block (allgather), is in the input, not in the data. Local; but all ranks must
  // give the same schedule and count. Raises Refused for a program that cannot run here (nanoseconds to compute).
  Execution(const Schedule& schedule, const Channel& channel, const Elements& elements, bool apart);
  ~Execution();
  Execution(Execution&&) noexcept;
  Execution& operator=(Execution&&) = delete;

  // data: `count` elements; input: as many for alltoall, and where they are apart (allgather: one block). Returns MPI_SUCCESS or the first error.
  int run(void* data, const void* input = nullptr);

  struct Numbers {
    std::int64_t items = 0, messages = 0;
    bool chain = false;      // a list of calls, without bookkeeping
    std::int64_t bytes = 0;  // of memory of its own
  };
  Numbers numbers() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace fl::collectives
