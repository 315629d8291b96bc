// patterns: any pattern of communication on real MPI, every word checked.
//
// A step is one iteration of a pattern: its passes, each a sequence of phases. A word is A H, A an odd number of who sends it to whom in
// which phase, H one of its place and of when it was written: so a sum of words has one bit pattern in whatever order, and misses no rank.
// In each repetition of a phase both ends of what a rank sends are new, and one word between, which wanders over 64 places drawn for each
// launch. What comes of these in a message goes into a tally, times the number of the repetition: lost, stale and overtaken messages
// show although later ones have gone over them. The check compares the tallies, then every word; then everything is new, twice.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "firstlight/collectives/algorithm.hpp"
#include "firstlight/patterns/totals.hpp"
#include "firstlight/variant.hpp"
#include "firstlight/workload.hpp"

namespace patterns {

namespace data = fl::patterns;
using fl::collectives::Collective;
using Word = std::uint64_t;

enum class Sizes { small, usual };

struct Params {
  std::string kernel = "npb_cg";
  Sizes sizes = Sizes::small;
  void declare(fl::Fields& fields) {
    std::string names;
    for (const data::Pattern* p : data::all_patterns()) names += (names.empty() ? "" : "|") + p->name;
    fields.choice("kernel", kernel, names.c_str(), "which pattern");
    fields.choice("sizes", sizes, "small|usual", "problem size: below one millisecond per iteration, or as `fl patterns` shows");
  }
};

struct Traits {
  bool needs_messages = false;  // it has no meaning for a pattern without
};

// What is sent or received: `n` words at `words`.
struct Channel {
  int peer = 0;
  fl::Index n = 0;
  Word key = 0;
  Word* words = nullptr;
  Word tally = 0;
};

// One phase as this rank sees it.
struct Stage {
  std::vector<Channel> out, in;
  // Where it is a collective operation: of n words a message or block, among the members of a group.
  Collective collective = Collective::other;
  data::Group group;
  int root = 0;
  fl::Index n = 0;
  Channel given, got;
  fl::Index done = 0;  // repetitions since the words were filled, as the variant counts them
};

struct State {
  fl::Team team;
  data::Instance instance;
  std::vector<data::Pass> passes;
  std::vector<Stage> stages;
  fl::Array<Word> memory;
  fl::Index epoch = 0;         // how many times all words were filled
  fl::Index steps = 0;         // since the last fill
  fl::Index counted_from = 0;  // the first of these steps that the tallies include
};

inline constexpr fl::About about{
    .title = "Patterns of applications",
    .cost =
        "One iteration of the pattern. Its bandwidth counts the bytes that a process sends and receives, for collectives its "
        "contribution and its result.",
    .verified =
        "Every received word on every rank, and three words of every message of every repetition; then two iterations with new words "
        "over poisoned buffers. No byte beyond the buffers may change.",
    .tolerance = "Exact",
};

inline constexpr fl::Metric metrics[] = {
    {"time", "us", "operations", "time", 1e6, "lower"},
    {"bandwidth", "GB/s", "flow", "rate", 1e-9, "higher"},
};

// --- what is generated ---------------------------------------------------------------------------------------------------

inline data::Instance instance_of(const Params& p, int ranks) {
  const data::Pattern& pattern = data::find_pattern(p.kernel);
  if (p.sizes == Sizes::small) return data::instance_of(pattern, ranks, pattern.small);
  return data::instance_of(pattern, ranks);
}

// Words of what a member of a group of `members` sends, or receives.
inline fl::Index given_words(Collective c, fl::Index n, fl::Index members) {
  return c == Collective::reduce_scatter || c == Collective::alltoall ? n * members : n;
}
inline fl::Index got_words(Collective c, fl::Index n, fl::Index members) {
  return c == Collective::allgather || c == Collective::alltoall ? n * members : n;
}

inline fl::Index words_of(std::int64_t bytes) { return bytes / static_cast<fl::Index>(sizeof(Word)); }

// Bytes into and out of a process in one repetition of a phase, of all processes together.
inline double flow_of(const data::Instance& made, const data::Phase& phase) {
  if (!phase.collective()) return 2 * static_cast<double>(data::totals(made, phase).bytes);
  double sum = 0;
  for (data::Rank r = 0; r < made.ranks; ++r) {
    const data::Group g = phase.together.group(r);
    const fl::Index n = words_of(phase.together.bytes(g));
    if (g.count > 1)
      sum +=
          8.0 * static_cast<double>(given_words(phase.together.collective, n, g.count) + got_words(phase.together.collective, n, g.count));
  }
  return sum;
}

inline std::string refuse(const Params& p, const fl::Team& team, const Traits& traits) {
  constexpr double most = 0x1p31;  // bytes of a process's buffers
  try {
    const data::Instance made = instance_of(p, team.ranks);
    double flow = 0;
    bool whole = true;
    for (const data::Phase& phase : made.phases) {
      flow += flow_of(made, phase) / team.ranks;
      data::Messages some;
      if (!phase.collective()) phase.sends(team.rank, some);
      for (const data::Message& m : some) whole = whole && m.bytes % 8 == 0;
      if (phase.collective()) whole = whole && phase.together.bytes(phase.together.group(team.rank)) % 8 == 0;
    }
    if (!whole) return fl::text("%s has messages whose size is not a multiple of 8 bytes", p.kernel.c_str());
    if (flow > most) return fl::text("%s of this size needs %.0f bytes of buffers per process; use sizes=small", p.kernel.c_str(), flow);
    if (traits.needs_messages && flow == 0) return fl::text("%s has no messages with %d processes", p.kernel.c_str(), team.ranks);
  } catch (const data::Refused& refused) {
    return refused.what();
  }
  return "";
}

inline fl::Cost cost(const Params& p, const fl::Team& team) {
  const data::Instance made = instance_of(p, team.ranks);
  fl::Cost cost{.operations = 1};
  double flow = 0;
  for (const data::Phase& phase : made.phases) {
    const auto times = static_cast<double>(phase.repetitions);
    const double of_phase = flow_of(made, phase);
    flow += times * of_phase;
    cost.working_set += of_phase / team.ranks;
    if (phase.collective()) continue;
    cost.messages += times;
    cost.message_bytes += times * of_phase / 2;
  }
  cost.flow = flow / team.ranks;
  return cost;
}

// --- what words hold ---------------------------------------------------------------------------------------------------------

inline Word odd(Word x) { return fl::hash(x) | 1; }

// Returns the key of the `number`th message from one rank to another in a phase, or of the contribution of a rank to a collective
// operation.
inline Word key_of(int from, int to, std::size_t phase, fl::Index number) {
  return odd(fl::hash(static_cast<Word>(from) << 32 | static_cast<Word>(to)) + (static_cast<Word>(phase) << 32) +
             static_cast<Word>(number));
}
inline Word key_of(int from, std::size_t phase) { return key_of(from, -1, phase, 0); }

// Returns the moment at which word i was written in repetition t. If t is negative, the word was filled.
inline Word moment(fl::Index i, fl::Index epoch, fl::Index t) {
  return odd(static_cast<Word>(i) * 0xBF58476D1CE4E5B9ull + static_cast<Word>(epoch + 1) * 0xD6E8FEB86659FD93ull +
             static_cast<Word>(t + 1) * 0x9E3779B97F4A7C15ull);
}

inline constexpr fl::Index places = 64;

// The word between the ends that is new in repetition t, of n > 2.
inline fl::Index place(fl::Index n, fl::Index t) {
  return 1 + static_cast<fl::Index>(fl::hash(fl::seed() + static_cast<Word>(t % places)) % static_cast<Word>(n - 2));
}

// Calls with the places of the words that are new in repetition t, each once.
template <class Visit>
inline void each_new(fl::Index n, fl::Index t, Visit visit) {
  if (n > 0) visit(fl::Index{0});
  if (n > 1) visit(n - 1);
  if (n > 2) visit(place(n, t));
}

// --- in the timed loop -----------------------------------------------------------------------------------------------------

inline void mutate_inputs(State& s, fl::Index) { ++s.steps; }

// Before a message goes, in repetition t.
inline void renew(const State& s, const Channel& c, fl::Index t) {
  each_new(c.n, t, [&](fl::Index i) { c.words[i] = c.key * moment(i, s.epoch, t); });
}

// After it has come.
inline void count(Channel& c, fl::Index t) {
  each_new(c.n, t, [&](fl::Index i) { c.tally += static_cast<Word>(t + 1) * c.words[i]; });
}

// --- outside of it -----------------------------------------------------------------------------------------------------------

inline constexpr fl::Index guard = 2;  // words behind each buffer that no code may write

inline bool gives(const State& s, const Stage& g) { return g.collective != Collective::broadcast || g.group.rank(g.root) == s.team.rank; }
inline bool gets(const State& s, const Stage& g) {
  return (g.collective != Collective::reduce || g.group.rank(g.root) == s.team.rank) &&
         (g.collective != Collective::broadcast || g.group.rank(g.root) != s.team.rank);
}

inline void blank(Channel& c) {
  for (fl::Index i = 0; i < c.n + guard; ++i) c.words[i] = fl::poison_bits;
  c.tally = 0;
}

inline void poison(State& s) {
  s.counted_from = s.steps;
  for (Stage& g : s.stages) {
    for (Channel& c : g.in) blank(c);
    if (g.collective != Collective::other && gets(s, g)) blank(g.got);
  }
}

inline void fill(const State& s, Channel& c) {
  for (fl::Index i = 0; i < c.n; ++i) c.words[i] = c.key * moment(i, s.epoch, -1);
  for (fl::Index i = 0; i < guard; ++i) c.words[c.n + i] = fl::poison_bits;
}

inline void fill(State& s) {
  s.steps = 0;
  for (Stage& g : s.stages) {
    g.done = 0;
    for (Channel& c : g.out) fill(s, c);
    if (g.collective != Collective::other && gives(s, g)) fill(s, g.given);
  }
}

inline std::vector<Channel> channels(const State& s, const data::Phase& phase, std::size_t number, bool out) {
  data::Messages some;
  (out ? phase.sends : phase.receives)(s.team.rank, some);
  std::vector<Channel> all;
  for (const data::Message& m : some)
    for (int k = 0; k < m.count; ++k) {
      fl::Index before = 0;
      for (const Channel& c : all) before += c.peer == m.peer;
      const int from = out ? s.team.rank : m.peer, to = out ? m.peer : s.team.rank;
      all.push_back({.peer = m.peer, .n = words_of(m.bytes), .key = key_of(from, to, number, before)});
    }
  return all;
}

inline Stage stage(const State& s, const data::Phase& phase, std::size_t number) {
  Stage g;
  if (!phase.collective()) {
    g.out = channels(s, phase, number, true);
    g.in = channels(s, phase, number, false);
    return g;
  }
  g.collective = phase.together.collective;
  g.group = phase.together.group(s.team.rank);
  g.root = phase.together.root;
  g.n = words_of(phase.together.bytes(g.group));
  g.given = {.n = given_words(g.collective, g.n, g.group.count), .key = key_of(s.team.rank, number)};
  g.got = {.n = got_words(g.collective, g.n, g.group.count)};
  return g;
}

template <class Visit>
inline void each_channel(State& s, Visit visit) {
  for (Stage& g : s.stages) {
    for (Channel& c : g.out) visit(c);
    for (Channel& c : g.in) visit(c);
    if (g.collective == Collective::other) continue;
    visit(g.given);
    if (g.collective == Collective::broadcast)
      g.got.words = g.given.words;  // the one buffer that a broadcast has
    else
      visit(g.got);
  }
}

inline void init(State& s, const Params& p, const fl::Team& team) {
  s.team = team;
  s.instance = instance_of(p, team.ranks);
  s.passes = data::passes(s.instance);
  for (std::size_t k = 0; k < s.instance.phases.size(); ++k) s.stages.push_back(stage(s, s.instance.phases[k], k));
  fl::Index words = 1;
  each_channel(s, [&](const Channel& c) { words += c.n + guard; });
  s.memory = fl::Array<Word>(words);
  fl::first_touch(&s);
  Word* next = s.memory.data();
  each_channel(s, [&](Channel& c) {
    c.words = next;
    next += c.n + guard;
  });
  fill(s);
  poison(s);
}

}  // namespace patterns

#ifdef FL_JUDGE
#include "judge.hpp"
#endif
