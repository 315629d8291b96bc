// What one process records: per thread and phase, calls, bytes and time of each kind of call, and the traffic to each peer.
// Each thread writes to tables of its own; the counters are atomics only so that another thread may read them at the end.
#pragma once

#include <atomic>
#include <cstdint>

#include "generated.hpp"

namespace fl {

using Bytes = std::uint64_t;

inline constexpr int most_phases = 256;
inline constexpr int unknown_peer = -1;  // a process outside MPI_COMM_WORLD
inline constexpr unsigned slots_of_thread = 256;

// One writer: no read-modify-write instruction is needed.
inline void add(std::atomic<std::uint64_t>& to, std::uint64_t more) {
  to.store(to.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
}

enum class Way : int { out = 0, in = 1 };  // `in`: this process fetches from the peer (MPI_Get)

struct Pair {
  int peer = 0;  // in MPI_COMM_WORLD, or unknown_peer
  Way way = Way::out;
  std::atomic<std::uint64_t> messages{0}, bytes{0};

  void count(Bytes more) {
    add(messages, 1);
    add(bytes, more);
  }
};

// Pairs stay where they are for ever, so a thread may keep their addresses and another may walk along them.
struct Chunk {
  static constexpr int room = 64;
  Pair pairs[room];
  std::atomic<int> used{0};
  std::atomic<Chunk*> next{nullptr};
};

struct Row {
  std::atomic<std::uint64_t> calls{0}, bytes{0}, ticks{0};
};

// Messages by size: place k counts those of which the length has k binary digits (0 B, 1 B, 2 - 3 B, 4 - 7 B, ...).
struct Sizes {
  static constexpr int places = 65;
  std::atomic<std::uint64_t> messages[places] = {}, bytes[places] = {};

  void count(Bytes more) {
    const int place = more == 0 ? 0 : 64 - __builtin_clzll(more);
    add(messages[place], 1);
    add(bytes[place], more);
  }
};

// The records of one thread in one phase. Memory: the kinds of calls, and what the peers need.
class Table {
 public:
  Row rows[static_cast<int>(Kind::count)];
  Sizes sizes;
  Chunk first;

  Pair& pair(int peer, Way way);

 private:
  void grow();
  Pair** index_ = nullptr;  // open addressing
  std::uint32_t capacity_ = 0, used_ = 0;
  Chunk* last_ = &first;
};

// What a handle and a rank in it meant the last time.
struct Slot {
  std::uint64_t handle = 0;
  int rank = -1;
  Way way = Way::out;
  std::uint32_t generation = 0;
  Pair* pair = nullptr;
};

struct Thread {
  int depth = 0;
  Slot slots[slots_of_thread];
  std::atomic<Table*> tables[most_phases] = {};
  std::atomic<bool> busy{true};
  Thread* next = nullptr;

  Table& table(int phase);
};

struct Phase {
  int level = 1;
  std::uint64_t ticks = 0;  // spent in it, without the current stretch
};

struct State {
  std::atomic<bool> ended{false};
  std::atomic<bool> attached{false};         // the MPI library was found
  std::atomic<int> phase{-1};                // index into phases; -1: nothing is recorded
  std::atomic<std::uint32_t> generation{1};  // changes when the content of a slot may be out of date
  int rank = 0, size = 0;
  Phase phases[most_phases];
  int phase_count = 0;
  bool too_many_phases = false;
  double processor_seconds = 0;  // of the process when recording began
};

extern State state;
extern Real real;
extern thread_local Thread* self __attribute__((tls_model("initial-exec")));

// The processor's own counter: a few nanoseconds, where a clock call takes 20 and more. What a tick is worth is measured
// over the whole run.
inline std::uint64_t now() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  std::uint64_t ticks;
  asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
  return nanoseconds();
#endif
}

void attach();
void* symbol(const char* name);  // a function of the MPI library, or nullptr
void* object(const char* name);  // a variable of it: the program may have its own copy, which is then the one that counts
Thread* enlist();
Thread* threads();
void* make(std::size_t bytes);  // zeroed memory; ends the process with a message when there is none
void enter_phase(int level);    // MPI_Pcontrol
std::uint64_t nanoseconds();

// One intercepted call: counts and times the outermost one only, so what an MPI library calls inside itself, or from its
// Fortran side, is not counted twice.
class Call {
 public:
  explicit Call(Kind kind) : kind_(kind) {
    if (!state.attached.load(std::memory_order_acquire)) [[unlikely]]
      attach();
    if (self == nullptr) [[unlikely]]
      self = enlist();
    ++self->depth;
    start_ = now();
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // The MPI library returned. Whether there is something more to record: only of a call that succeeded.
  bool done(int status) {
    const std::uint64_t ticks = now() - start_;
    const int phase = state.phase.load(std::memory_order_relaxed);
    if (--self->depth != 0 || phase < 0) return false;
    table_ = &self->table(phase);
    Row& row = table_->rows[static_cast<int>(kind_)];
    add(row.calls, 1);
    add(row.ticks, ticks);
    return status == 0;
  }
  // The same for a call whose row counts something else (set-up of persistent operations).
  bool done_without_count(int status) {
    const bool more = done(status);
    if (table_ != nullptr) add(table_->rows[static_cast<int>(kind_)].calls, ~std::uint64_t{0});
    return more;
  }

  Kind kind() const { return kind_; }
  Table& table() { return *table_; }
  void bytes(Bytes more) { add(table_->rows[static_cast<int>(kind_)].bytes, more); }

 private:
  Kind kind_;
  Table* table_ = nullptr;
  std::uint64_t start_;
};

inline Table& Thread::table(int phase) {
  Table* found = tables[phase].load(std::memory_order_relaxed);
  if (found != nullptr) [[likely]]
    return *found;
  found = static_cast<Table*>(make(sizeof(Table)));
  new (found) Table;
  tables[phase].store(found, std::memory_order_release);
  return *found;
}

}  // namespace fl
