// What a workload header needs: parameters, costs, metrics, checks, inputs by global index, arrays.
//
// A workload is a namespace of the folder's name that provides
//   struct Params { ...; void declare(fl::Fields&); };
//   struct State  { ... };                                   inputs, outputs, whatever a step needs
//   inline constexpr fl::About about{...};                   title, cost model, what is verified against what
//   inline constexpr fl::Metric metrics[] = {...};
//   void init(State&, const Params&, const fl::Team&);       allocate, fl::first_touch(&state), fill; inputs are pure functions of the
//                                                            global index
//   fl::Cost cost(const Params&, const fl::Team&);           of one step, for the whole job
//   void mutate_inputs(State&, fl::Index iteration);         change inputs, so that no step can be hoisted, skipped or remembered
//   void poison(State&);                                     outputs become NaN
//   fl::Check check(State&, fl::Index last_iteration);       of this rank's outputs; collective calls are allowed
// and may provide
//   struct Traits { bool one_node = false; ... };            what it must know of a variant, which sets it with `.traits = {...}`
//   std::string refuse(const Params&, const fl::Team&);      empty, or why these parameters cannot run
//   void reset(State&);                                      if a step is a whole run: restores what init made and a step changed,
//                                                            before every step, untimed; collective calls are allowed
//   fl::Index mutate_between_batches(State&, fl::Index);     before each batch, untimed, with the iteration of the next step: changes
//                                                            inputs at places that no step can know (firstlight/input_mutator.hpp);
//                                                            returns the iteration of the next step
//   void observe(State&, fl::Observations&);                 what was seen in the samples, see below; collective calls are allowed
//   void draw(State&, fl::Picture&);                         a small picture of what the last sample left; collective calls are allowed
//   inline constexpr fl::Phases phases{...};                 parts of a step with times of their own: firstlight/phase.hpp
// Traits, where declared, follow as last argument of refuse, init and cost, of those that have it: (..., const Traits&).
// A sample of steps with a reset alternates resets and steps; its time is the sum of the steps', of each rank its own, and a
// check sees what the last whole run left. A variant's own loop is then called for one step at a time.
// All functions but mutate_inputs() are compiled with the harness's own safe flags, never with those of the toolchain under test.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "firstlight/phase.hpp"
#include "firstlight/role.hpp"

namespace fl {

struct Cost;
using Index = long long;  // of 64 bits everywhere, and what "%lld" prints

// Where this process is: its rank, and how many ranks, threads a rank and nodes take part.
struct Team {
  int rank = 0;
  int ranks = 1;
  int threads = 1;
  int nodes = 1;
};

// What of a member of Cost is in one phase: {phases("solver"), &fl::Cost::flops, 5 * n}.
using Quantity = double Cost::*;
struct PhaseCost {
  Phase phase;
  Quantity quantity;
  double amount;
};

// Work of one step summed over the whole job; 0 means "does not apply". Sizes in bytes.
struct Cost {
  double flops = 0;
  double bytes = 0;          // memory traffic, write-allocate not counted
  double messages = 0;       // messages one after the other (a latency chain)
  double message_bytes = 0;  // payload
  double accesses = 0;       // dependent memory accesses
  double operations = 0;     // of the workload's own kind: exchanges, reductions, quanta
  double flow = 0;           // bytes into and out of one process
  double elements = 0;       // a time is reported per element: lattice sites, unknowns
  double working_set = 0;    // bytes touched by one process, all its threads together

  // What of it is in phases, for metrics of these: together no more flops, bytes, messages and accesses than the step has.
  std::vector<PhaseCost> phases = {};
};

struct Metric {
  const char* name;
  const char* unit;
  const char* quantity;  // a member of Cost; the name of an observed value where the form is "value"
  const char* form;      // "rate": scale * quantity / time; "time": scale * time / quantity; "value": scale * the observed value
  double scale;
  const char* better;  // "higher" or "lower"
  Phase phase = {};    // phases("solver"): a rate or time of that phase, on the rank that is longest in it, with the phase's cost
};

struct About {
  const char* title;
  const char* cost;       // the cost model in words
  const char* verified;   // what is compared with what
  const char* tolerance;  // the rule
  Phases phases = {};     // what a variant may mark in a step
};

// The outcome of one check: an error that is not finite is never ok; its sign does not count.
struct Check {
  bool ok = false;
  double error = 0;
  double tolerance = 0;
  std::string what;  // the sentence a user reads: which element, expected, found

  static Check of(double error, double tolerance, std::string what);
};

// What observe() saw. The harness calls observe() on every rank after each batch of steps, outside the timed span: after the
// batches of the warm-up too, whose values are dropped, so that a sum that is reset there covers exactly one batch.
// The harness adds the phases as values phase_<name>, seconds a step.
class Observations {
 public:
  static constexpr int most_values = 16;      // names a case
  static constexpr Index most_points = 4096;  // of a series; what is beyond them is left out
  static constexpr int most_ranks = 64;       // whose series are kept

  Index steps = 0;  // of the batch that just ended

  // One finite number, the same names in the same order on every rank. Its least, median and largest over the ranks go into the
  // record of the sample. A metric of form "value" uses the largest, and the median of that over the samples; it may be 0, not less.
  virtual void value(const char* name, double x) = 0;
  // What a step of the batch spent in a phase on this rank; in the phase alone, without those inside it.
  virtual double seconds(Phase phase) const = 0;
  // Points to draw. Kept are those given after the last sample of a case.
  virtual void series(const char* name, const char* unit, const double* points, Index count) = 0;

 protected:
  ~Observations() = default;
};

// A two-dimensional field of the whole job, reduced to means over boxes of cells. The harness calls draw() once a case on every rank.
class Picture {
 public:
  static constexpr Index most = 96;  // rows of boxes, and columns; of a field with fewer cells each is one

  // How many cells the whole field has, 2^40 at most either way; the same on every rank, once, before its rows.
  virtual void of(const char* name, const char* unit, Index rows, Index columns) = 0;
  // Cells of this rank, side by side from (row, column) of the whole field on. One rank reports each cell, once.
  virtual void row(Index row, Index column, const double* values, Index count) = 0;
  virtual void row(Index row, Index column, const float* values, Index count) = 0;

 protected:
  ~Picture() = default;
};

inline namespace FL_ROLE {

// Word `number` of "copy|scale|add", from 0, and the number of a word that is among them.
inline std::string option(std::string_view options, std::size_t number) {
  for (; number > 0; --number) options.remove_prefix(options.find('|') + 1);
  return std::string(options.substr(0, options.find('|')));
}
inline std::size_t option_number(std::string_view options, std::string_view word) {
  std::size_t number = 0;
  while (options.substr(0, options.find('|')) != word) options.remove_prefix(options.find('|') + 1), ++number;
  return number;
}

}  // namespace FL_ROLE

// A text that a parameter names: one that the workload brings, or a file of the user's.
struct Document {
  std::string name;  // as in the record: "water", or "mine.xyz-0123456789abcdef" with a hash of what the file contains
  std::string text;  // of a file; empty for the workload's own
};

// A target of storage: a directory that a user names, or that firstlight finds (results, tmpdir, shm, home, scratch, work). Figures have its
// name, never its path; firstlight/storage.hpp makes a working folder in it.
struct Storage {
  std::string name = "tmpdir";
  std::string folder;  // of this launch, from --storage NAME=FOLDER; empty if no option names one
};

// Parameters declare themselves once; the harness uses the declaration to describe, to parse and to print. A parameter that has no meaning
// with a file is declared only while the Document before it has no text: such a case has one value fewer, and runs once.
class Fields {
 public:
  virtual void integer(const char* name, Index& value, const char* unit, Index least, Index most, const char* help) = 0;
  virtual void real(const char* name, double& value, const char* unit, double least, double most, const char* help) = 0;
  virtual void choice(const char* name, std::string& value, const char* options, const char* help) = 0;
  // One of `options`, "water|benzene", or the path of a file, which has a dot or a slash and no comma; of up to 64 MiB, never empty.
  virtual void file(const char* name, Document& value, const char* options, const char* help) = 0;
  // A target of storage.
  virtual void storage(const char* name, Storage& value, const char* help) = 0;
  // An enum whose values have the names of `options`, "copy|scale|add", in that order.
  template <class Enum>
    requires std::is_enum_v<Enum>
  void choice(const char* name, Enum& value, const char* options, const char* help) {
    std::string chosen = option(options, static_cast<std::size_t>(value));
    choice(name, chosen, options, help);
    value = static_cast<Enum>(option_number(options, chosen));
  }

 protected:
  ~Fields() = default;
};

inline namespace FL_ROLE {

// The possible values of a choice, as choice() accepts them, from a table whose entries have names: "copy|scale|add".
template <class Entries>
std::string options(const Entries& entries) {
  std::string names;
  for (const auto& entry : entries) names += (names.empty() ? "" : "|") + std::string(entry.name);
  return names;
}

// splitmix64 of the global index (Steele, Lea, Flood 2014), the increment applied first.
inline std::uint64_t hash(std::uint64_t index) {
  std::uint64_t z = (index + 1) * 0x9E3779B97F4A7C15ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

// Uniform in [-1/2, 1/2), a pure function of the global index.
inline double uniform(std::uint64_t index) { return static_cast<double>(hash(index) >> 11) * 0x1p-53 - 0.5; }

// What an input or a result may be multiplied by so that it follows the step: 1 to 16, exact in single precision. It has no value twice
// in 2^14 steps, more than a batch has, and changes by 2^-13 of itself at least, so that a result that is late by any of them shows.
inline double step_factor(std::int64_t iteration) {
  return static_cast<double>(1 << (iteration & 3)) * (1 + 0x1p-12 * static_cast<double>(iteration >> 2 & 0xFFF));
}

// Quiet NaN with a recognisable payload; the bits, because a fast-math compiler may not be trusted with the value.
inline constexpr std::uint64_t poison_bits = 0x7FF8DEADBEEF0000ull;

}  // namespace FL_ROLE

void* allocate(
    std::size_t
        bytes);  // page-aligned, staggered by lines, huge pages where the system offers them; aborts with a message when out of memory
void release(void* memory, std::size_t bytes);

// Pages belong to the memory next to the thread that first writes them. An init that fills large arrays calls this between
// allocation and filling, so that a parallel variant's threads get there before the one thread that fills.
void first_touch(void* state);

inline namespace FL_ROLE {

// A plain array of T, uninitialised. Large ones get huge pages, as `madvise` allows; no two start on the same cache set.
template <class T>
class Array {
 public:
  Array() = default;
  explicit Array(Index size) : size_(size), data_(static_cast<T*>(allocate(static_cast<std::size_t>(size) * sizeof(T)))) {}
  Array(Array&& other) noexcept : size_(std::exchange(other.size_, 0)), data_(std::exchange(other.data_, nullptr)) {}
  Array& operator=(Array&& other) noexcept {
    std::swap(size_, other.size_);
    std::swap(data_, other.data_);
    return *this;
  }
  ~Array() {
    if (data_ != nullptr) release(data_, static_cast<std::size_t>(size_) * sizeof(T));
  }
  T* data() { return data_; }
  const T* data() const { return data_; }
  Index size() const { return size_; }
  T& operator[](Index i) { return data_[i]; }
  const T& operator[](Index i) const { return data_[i]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }

 private:
  Index size_ = 0;
  T* data_ = nullptr;
};

}  // namespace FL_ROLE

void poison(double* first, Index count);
void poison(float* first, Index count);

// These functions involve all ranks. They are for checks and hooks, where collective calls are allowed.
void barrier();
std::uint64_t seed();                   // drawn for each launch, the same on every rank; --seed sets it
double total(double mine);              // the sum over ranks, in their order, on every rank
void maximum(double* mine, int count);  // of each of the numbers over the ranks, on every rank
void add_up(double* mine, int count);   // the same of their sums, in whatever order
// Sends `count` numbers to a rank and receives as many from another. All ranks do, around rings.
void shift(const double* mine, Index count, int to, int from, double* theirs);

// Ends every rank, with status 3 and this sentence: for what befalls one rank while others may be waiting for it.
[[noreturn]] void abort_all(const std::string& why);

// Before this iteration, mutate_inputs() of a workload whose variants may contain the loop saves what the step before it left, and the check
// inspects that as well: at the end of a batch nothing shows that its earlier steps were taken. The harness draws the iteration in a batch
// that is not timed; otherwise it is -1.
extern Index saved_before;

// Steps outside of the timed loop, for checks: iterations first, first + 1, ..., each after its mutate_inputs(). Nothing is reset before them.
void run_steps(Index first, Index count);

// Returns why a node has too little memory for so many bytes; empty if it has enough. The harness requests Cost::working_set; a workload
// whose check needs much more checks it in its refuse().
std::string lacks_memory(double needed);

std::string text(const char* format, ...) __attribute__((format(printf, 1, 2)));

inline namespace FL_ROLE {
namespace unless_declared {  // what a workload's own declarations hide

struct Traits {};

template <class Params>
std::string refuse(const Params&, const Team&) {
  return "";
}

}  // namespace unless_declared
}  // namespace FL_ROLE
}  // namespace fl

// Names that a workload may declare, as fl_declared::... in its namespace: its own where there is one, else that of fl::unless_declared.
#define FL_DECLARED_BY(workload)         \
  namespace workload::fl_declared {      \
  using namespace ::fl::unless_declared; \
  using Found = Traits;                  \
  }
