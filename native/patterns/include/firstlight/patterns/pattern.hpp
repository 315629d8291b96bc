// A pattern is data, like a collective: who sends how much to whom in an application, as a pure function of the number of processes and of
// size parameters.
//
// A pattern is a file: patterns/<name>.cpp has FL_PATTERN(<name>), and CMake lists the files.
//
//   FL_PATTERN(halo){
//       .name = "halo", .title = "...", .applications = "...", .source = "...",
//       .parameters = {{.name = "n", .value = 32, .most = 1 << 14, .means = "words on a side"}},
//       .instance = instance};
//
// One that was made for so many ranks is an Instance: phases, each of messages or of a collective operation among groups of ranks. Nothing
// is stored: a phase returns for one rank at a time what it sends and what it receives, so 80,000 ranks take no more memory than one.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "firstlight/collectives/schedule.hpp"

namespace fl::patterns {

using collectives::Collective;
using collectives::Rank;
using collectives::Refused;

// `count` messages of `bytes` each, to or from a peer, which may be the rank itself.
struct Message {
  Rank peer = -1;
  std::int64_t bytes = 0;
  std::int32_t count = 1;
  friend auto operator<=>(const Message&, const Message&) = default;
};
using Messages = std::vector<Message>;

// The ranks first, first + stride, ..., `count` of them: all, a row, a column, a plane's diagonal.
struct Group {
  Rank first = 0;
  Rank stride = 1;
  Rank count = 1;
  Rank rank(Rank member) const { return first + member * stride; }
  Rank member(Rank rank) const { return (rank - first) / stride; }
  friend auto operator<=>(const Group&, const Group&) = default;
};

// A collective operation in each of the groups that the ranks form. bytes: of the message (broadcast, reduce, allreduce), of one rank's
// block (allgather, reduce_scatter), of what one rank has for one other (alltoall).
struct Together {
  Collective collective = Collective::other;  // other: none
  std::function<std::int64_t(const Group&)> bytes = nullptr;
  std::function<Group(Rank)> group = nullptr;  // that a rank belongs to
  Rank root = 0;                               // of broadcast and reduce: a member of the group
};

// What may go on at once: all messages of a phase are independent of each other, and a rank begins a phase when it is done with the one
// before. Either messages or a collective operation, or work of a rank by itself. Messages between two ranks match in the order in which
// both name them.
struct Phase {
  std::string name = "";
  std::int64_t repetitions = 1;                             // in one iteration, see Instance
  std::function<void(Rank, Messages&)> sends = nullptr;     // appends what a rank sends
  std::function<void(Rank, Messages&)> receives = nullptr;  // appends what it receives, `peer` being the sender
  Together together = {};
  std::int64_t work = 0;  // nanoseconds of a processor without messages
  bool beside = false;    // begins with the phase before; the next one begins when both are done

  bool collective() const { return together.collective != Collective::other; }
};

// A pattern for so many ranks. One iteration consists of passes, as many as the largest number of repetitions: pass k is the phases that
// are repeated more often than k, in their order.
struct Instance {
  Rank ranks = 1;
  std::int64_t iterations = 1;  // of a whole run of the application
  std::vector<Phase> phases = {};
  std::vector<Rank> shape = {};  // where the ranks form a grid: its extents, the first varies fastest in a rank
};

// A size that a pattern depends on: a whole number, or a word of a list, which counts from 0.
struct Parameter {
  std::string name;
  std::int64_t value = 0;  // the default
  std::int64_t least = 0, most = 0;
  std::string means;
  std::vector<std::string> words = {};  // instead of least and most
};

using Values = std::map<std::string, std::int64_t, std::less<>>;  // of all parameters, by name

struct Pattern {
  std::string name;
  std::string title;
  std::string applications;  // that it stands for
  std::string source;
  std::vector<Parameter> parameters;
  std::vector<std::string> small;                          // values ("n=16") with which a few processes take less than a millisecond
  Instance (*instance)(Rank ranks, const Values& values);  // raises Refused, saying what it needs
};

#define FL_PATTERN(file)     \
  namespace patterns {       \
  extern const Pattern file; \
  }                          \
  const Pattern patterns::file

// All patterns, by name.
std::span<const Pattern* const> all_patterns();
// Raises Refused with the names of all patterns where there is none of this name.
const Pattern& find_pattern(std::string_view name);

// Returns the values of all parameters, with those in `given` ("class=B", "n=64") set. Raises Refused.
Values values_of(const Pattern& pattern, std::span<const std::string> given);
// As it is written: the word, or the number.
std::string text_of(const Parameter& parameter, std::int64_t value);

// Raises Refused where the pattern is not for so many ranks or such values.
Instance instance_of(const Pattern& pattern, Rank ranks, const Values& values);
inline Instance instance_of(const Pattern& pattern, Rank ranks, std::span<const std::string> given = {}) {
  return instance_of(pattern, ranks, values_of(pattern, given));
}

// The phases of pass `k` and of as many passes after it as are alike.
struct Pass {
  std::vector<std::size_t> phases;
  std::int64_t times = 1;
};
std::vector<Pass> passes(const Instance& instance);

}  // namespace fl::patterns
