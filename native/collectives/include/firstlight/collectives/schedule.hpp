// A collective is data: a schedule lists for every rank what it sends, receives, combines and copies, and what waits for what.
//
// The same schedule is checked symbolically (checker.hpp), run on MPI (executor.hpp) and simulated on a network of any size
// (firstlight/network). It is never stored whole: program(rank) generates the operations of one rank, a pure function.
//
// The data of a rank is a number of chunks, equal on all ranks; chunk c of C contains the elements [c N / C, (c + 1) N / C) of N.
// A rank works in place, with the placement of MPI_IN_PLACE:
//
//   collective       chunks      data before                       data afterwards
//   broadcast        C           the root: the message             everywhere: the message
//   reduce           C           everywhere: a vector              the root: the sum; elsewhere unspecified
//   allreduce        C           everywhere: a vector              everywhere: the sum
//   allgather        ranks * C'  block r of rank r                 everywhere: all blocks
//   reduce_scatter   ranks * C'  everywhere: a vector              block r of rank r: the sum of it; elsewhere unspecified
//   alltoall         ranks * C'  Space::input: a block for each    block s: what rank s had for this rank
//   barrier          0           -                                 -
//
// "The sum" stands for any associative and commutative operation. Sources: each algorithm's file.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace fl::collectives {

using Rank = std::int32_t;
using Chunk = std::int64_t;  // an index or a number of chunks
using Op = std::int32_t;     // an index of an operation within its program

inline constexpr Op no_op = -1;  // "nothing to wait for", so that a program needs no case of its own

enum class Collective : std::uint8_t { broadcast, reduce, allreduce, allgather, reduce_scatter, alltoall, barrier, other };

enum class Kind : std::uint8_t {
  send,     // to a peer
  receive,  // from a peer, over what was there
  combine,  // from a peer, added to what is there
  copy,     // within the rank
  compute,  // so many nanoseconds of a processor (programs read from a file)
};

enum class Space : std::uint8_t {
  data,     // the user's buffer: result, and in-place input
  input,    // alltoall's send buffer, read only
  scratch,  // Schedule::scratch chunks of the rank's own, undefined at first
};

// The chunks that an operation touches: `count` of them from `first` on, in runs of `run` neighbours, `stride` apart from start to
// start (run 0: all are neighbours). With `row`, every `row` chunks of that make a row, and rows start `skip` apart (planes of a torus;
// row 0: it is all one row). A train of `segments` repeats that: segment k is shifted by k * step chunks. In a message the chunks
// follow each other without gaps.
struct Range {
  Chunk first = 0;
  Chunk count = 1;
  Space space = Space::data;
  Chunk run = 0;
  Chunk stride = 0;
  std::int32_t segments = 1;
  Chunk step = 1;
  Chunk row = 0;
  Chunk skip = 0;

  // The index of chunk i of segment k.
  Chunk chunk(std::int32_t k, Chunk i) const {
    const Chunk start = first + k * step + (row == 0 ? 0 : i / row * skip);
    if (row != 0) i %= row;
    return run == 0 ? start + i : start + i / run * stride + i % run;
  }
  friend bool operator==(const Range&, const Range&) = default;
};

// A range of neighbours in the user's buffer; a train of single chunks; both may be altered by designated fields afterwards.
inline Range chunks(Chunk first, Chunk count) { return {.first = first, .count = count}; }
inline Range train(Chunk first, std::int32_t segments) { return {.first = first, .segments = segments}; }
inline Range in(Space space, Range range) {
  range.space = space;
  return range;
}

// What an operation waits for. A train waits for another of as many segments segment by segment, for one of a different length as
// a whole. Segments of one train start in their order.
struct Dependency {
  Op on = no_op;
  bool started = false;  // wait for its start only (GOAL's irequires)
  friend bool operator==(const Dependency&, const Dependency&) = default;
};

struct Operation {
  Kind kind = Kind::compute;
  std::uint8_t cpu = 0;    // which processor of the rank; everything but GOAL uses one
  std::uint8_t nic = 0;    // which network interface, modulo those that the machine has
  Rank peer = -1;          // of send, receive, combine
  std::int32_t tag = 0;    // messages between two ranks with one tag match in the order of both programs
  std::int32_t round = 0;  // for the round model: the first segment's; segment k belongs to round + k
  Range range = {};        // what is read (send), written (receive, copy) or added to (combine); compute: count = nanoseconds
  Range source = {};       // what a copy reads
  std::uint32_t dependency = 0;
  std::uint32_t dependencies = 0;  // of Program::dependencies(), that many from there on
};

// The operations of one rank, in an order in which dependencies point backwards only.
//
//   send      starts when everything in `after` is complete, and is complete when its chunks may be overwritten.
//   receive   likewise; without dependencies it is posted before anything starts. Complete when the data is there.
//   combine   receives its message into separate memory, so it is always posted early; `after` gates the addition.
//   copy, compute   run when `after` is complete.
//
// Two operations of a rank that touch the same chunk, one of them writing, must be ordered by dependencies of this rank. The order
// of a program is the order in which a processor turns to operations that wait for it.
class Program {
 public:
  Op send(Rank to, const Range& what, std::initializer_list<Op> after = {}, std::int32_t tag = 0) {
    return message(Kind::send, to, what, after, tag);
  }
  Op receive(Rank from, const Range& where, std::initializer_list<Op> after = {}, std::int32_t tag = 0) {
    return message(Kind::receive, from, where, after, tag);
  }
  Op combine(Rank from, const Range& where, std::initializer_list<Op> after = {}, std::int32_t tag = 0) {
    return message(Kind::combine, from, where, after, tag);
  }
  Op copy(const Range& to, const Range& from, std::initializer_list<Op> after = {}) {
    Operation o{.kind = Kind::copy, .range = to, .source = from};
    return add(o, after);
  }
  Op compute(Chunk nanoseconds, std::initializer_list<Op> after = {}) {
    Operation o{.kind = Kind::compute, .range = {.count = nanoseconds}};
    return add(o, after);
  }
  // Any operation; dependency and dependencies are set here. Dependencies on no_op are dropped.
  Op add(Operation operation, std::span<const Dependency> after) {
    operation.dependency = static_cast<std::uint32_t>(dependencies_.size());
    for (const Dependency& d : after)
      if (d.on != no_op) dependencies_.push_back(d);
    operation.dependencies = static_cast<std::uint32_t>(dependencies_.size()) - operation.dependency;
    operations_.push_back(operation);
    return static_cast<Op>(operations_.size()) - 1;
  }
  Op add(Operation operation, std::initializer_list<Op> after) {
    operation.round = round_;
    operation.dependency = static_cast<std::uint32_t>(dependencies_.size());
    for (const Op on : after)
      if (on != no_op) dependencies_.push_back({on});
    operation.dependencies = static_cast<std::uint32_t>(dependencies_.size()) - operation.dependency;
    operations_.push_back(operation);
    return static_cast<Op>(operations_.size()) - 1;
  }
  // One more dependency of the operation that was added last.
  void also(Op on, bool started = false) {
    if (on == no_op) return;
    dependencies_.push_back({on, started});
    ++operations_.back().dependencies;
  }
  // Operations that follow belong to this round.
  void round(std::int32_t number) { round_ = number; }

  void clear() {
    operations_.clear();
    dependencies_.clear();
    round_ = 0;
  }
  std::span<const Operation> operations() const { return operations_; }
  std::span<const Dependency> after(const Operation& o) const { return std::span(dependencies_).subspan(o.dependency, o.dependencies); }
  // For mutations in tests.
  std::vector<Operation>& edit() { return operations_; }
  std::vector<Dependency>& edit_dependencies() { return dependencies_; }

 private:
  Op message(Kind kind, Rank peer, const Range& range, std::initializer_list<Op> after, std::int32_t tag) {
    return add({.kind = kind, .peer = peer, .tag = tag, .range = range}, after);
  }
  std::vector<Operation> operations_;
  std::vector<Dependency> dependencies_;
  std::int32_t round_ = 0;
};

// Ranks that look alike: program(r) is program(0) with every peer and block moved along by r.
enum class Symmetry : std::uint8_t {
  none,
  cyclic,    // peers are (r + d) mod P
  torus,     // peers are r + d, each coordinate of Schedule::shape modulo its extent
  exclusive  // peers are r xor d
};

// Rounds that are alike, for schedules of so many that they are not looked at one by one: from begins[i] up to begins[i + 1] the messages
// of a round go between the same ranks and are equally long. The last of `begins` is the number of rounds.
struct Rounds {
  struct Receipt {
    Rank from = -1;
    Chunk count = 0;
    bool combined = false;  // added, not only received
    friend auto operator<=>(const Receipt&, const Receipt&) = default;
  };
  std::vector<std::int32_t> begins = {};
  std::function<void(Rank, std::int32_t, std::vector<Receipt>&)> receipts = nullptr;  // appends those of a rank in a round
};

struct Schedule {
  Collective collective = Collective::other;
  std::string name = "";  // of the algorithm
  Rank ranks = 1;
  Rank root = 0;                   // of broadcast and reduce
  Chunk chunks = 1;                // of data, and of Space::input
  Chunk scratch = 0;               // of Space::scratch, of the same size as those of data
  std::vector<Rank> missing = {};  // ranks that take no part, ascending: their programs are empty, no rank expects anything of them
  std::vector<Rank> shape = {};    // of the torus or mesh, where the algorithm has one; the first axis varies fastest in a rank
  Symmetry symmetry = Symmetry::none;
  Rounds rounds = {};      // empty where nothing is known of them, and for trains
  double chunk_bytes = 0;  // for schedules read from a file (1); else the caller divides its message into chunks
  std::function<void(Rank, Program&)> program =
      nullptr;  // appends the operations of a rank to an empty program; may be called by threads at once
};

// The problem that an algorithm solves.
struct Problem {
  Collective collective = Collective::broadcast;
  Rank ranks = 1;
  Rank root = 0;
  std::int32_t segments = 1;       // a pipelining algorithm divides a message (of each of its trees) into so many
  std::vector<Rank> shape = {};    // of the torus or mesh, its product is `ranks`; empty where there is none
  std::vector<bool> open = {};     // axes of the shape without the wrapping link; empty: none
  std::vector<Rank> missing = {};  // ranks (of the shape) that take no part, ascending; the rest keep their numbers
};

// An algorithm cannot solve this problem. The message has the reason and the need ("recursive halving needs a power of two; 12 ranks given").
class Refused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace fl::collectives
