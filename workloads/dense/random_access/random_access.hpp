// random_access: words of a large table are changed at random places, table[a mod words] ^= a with a of HPC Challenge's stream.
//
// A step is a whole run from table[i] = i on; each begins elsewhere in the stream, at a place that follows from the launch's seed. Exclusive
// or undoes itself: the judge makes the same updates once more, by a plain loop or, in several processes, by shifts around rings.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <vector>

#include "firstlight/split.hpp"
#include "firstlight/workload.hpp"
#include "stream.hpp"

namespace random_access {

struct Params {
  fl::Index words = fl::Index{1} << 22;
  fl::Index per_word = 4;
  void declare(fl::Fields& fields) {
    fields.integer("words", words, "words", 1, fl::Index{1} << 44, "words of 8 bytes in the table of all processes, a power of two");
    fields.integer("per_word", per_word, "updates", 1, fl::Index{1} << 30,
                   "updates per word; HPC Challenge has 4, and performs at least a quarter of them in runs of bounded time");
  }
};

struct Traits {
  bool racy = false;           // updates of threads may meet and be lost
  bool power_of_two = false;   // its route exists for such numbers of processes only
  bool needs_partner = false;  // of one process some MPI libraries make no window on a program's memory
};

struct State {
  fl::Team team;
  fl::Index words = 0;    // of the whole table
  fl::Index updates = 0;  // of a step, of all processes
  fl::Part own;           // words of this process
  fl::Array<Word> table;  // those
  Word first = 0;         // the step's first update is this number of the stream
  Word seed = 0;
  bool racy = false;
  // Variants on a device set these: fetch() copies the table from the device before a check; restored() restores it there.
  void (*fetch)(State&) = nullptr, (*restored)(State&) = nullptr;
  void* object = nullptr;  // of theirs
};

inline constexpr fl::About about{
    .title = "Random updates of a table",
    .cost =
        "4 updates (or `per_word`) per word of the table; an update reads and writes 8 bytes. Beyond the caches, each "
        "update moves a line of 64 bytes in both directions.",
    .verified = "Every word of the table, after the judge has repeated the same updates",
    .tolerance = "Exact; at most 1 % of the words if threads write without synchronisation (HPC Challenge's rule)",
};

inline constexpr fl::Metric metrics[] = {
    {"rate", "GUP/s", "operations", "rate", 1e-9, "higher"},
    {"lines", "GB/s", "operations", "rate", 128e-9, "higher"},  // a line read and one written for each
};

inline constexpr fl::Index most_updates = fl::Index{1} << 54;

inline bool is_power_of_two(fl::Index n) { return std::has_single_bit(static_cast<Word>(n)); }

inline std::string refuse(const Params& p, const fl::Team& team, const Traits& traits) {
  if (!is_power_of_two(p.words)) return fl::text("words must be a power of two, not %lld", p.words);
  if (p.per_word > most_updates / p.words)
    return fl::text("a table of %lld words needs at most %lld updates per word; %lld given", p.words, most_updates / p.words, p.per_word);
  if (team.ranks > p.words) return fl::text("a table of %lld words needs at most one process per word; %d given", p.words, team.ranks);
  if (traits.needs_partner && team.ranks < 2) return "this variant needs at least 2 ranks; start it with mpiexec -n 2";
  if (traits.power_of_two && !is_power_of_two(team.ranks))
    return fl::text("the hypercube needs a number of ranks that is a power of two; %d given; start it with mpiexec -n 2, 4, 8 ...",
                    team.ranks);
  return "";
}

inline void init(State& s, const Params& p, const fl::Team& team, const Traits& traits) {
  s.team = team;
  s.words = p.words;
  s.updates = p.words * p.per_word;
  s.own = fl::part(p.words, team.ranks, team.rank);
  s.table = fl::Array<Word>(s.own.size());
  s.seed = fl::hash(fl::seed());
  s.racy = traits.racy;
  fl::first_touch(&s);
}

inline void reset(State& s) {
  if (s.restored != nullptr) return s.restored(s);
  for (fl::Index i = 0; i < s.own.size(); ++i) s.table[i] = static_cast<Word>(s.own.begin + i);
}

inline fl::Cost cost(const Params& p, const fl::Team& team) {
  const double words = static_cast<double>(p.words), updates = words * static_cast<double>(p.per_word);
  return {.bytes = 16 * updates, .operations = updates, .working_set = 8 * words / team.ranks};
}

inline Word first_of(const State& s, fl::Index iteration) { return fl::hash(s.seed + static_cast<Word>(iteration)) % period; }
inline void mutate_inputs(State& s, fl::Index iteration) { s.first = first_of(s, iteration); }

inline void poison(State& s) { std::fill(s.table.begin(), s.table.end(), fl::poison_bits); }

inline fl::Index place(const State& s, Word a) { return static_cast<fl::Index>(a & static_cast<Word>(s.words - 1)); }

// --- the check ---------------------------------------------------------------------------------------------------------

// Makes the updates of the step of this iteration: each process so many of the stream that its own share of it has, a chunk at a time; each
// word of a chunk is sent to the process whose part of the table it changes. Zeros fill what is sent up to one length: they change nothing.
inline void update_once_more(State& s, fl::Index iteration) {
  constexpr fl::Index chunk = 1 << 16;
  const int ranks = s.team.ranks, me = s.team.rank;
  const fl::Part share = fl::part(s.updates, ranks, me);
  const fl::Index rounds = (s.updates / ranks + chunk) / chunk;  // of the largest share
  Word a = number(first_of(s, iteration) + static_cast<Word>(share.begin));
  std::vector<std::vector<Word>> to(static_cast<std::size_t>(ranks));
  std::vector<double> out, in;
  const auto apply = [&](Word update) { s.table[place(s, update) - s.own.begin] ^= update; };
  for (fl::Index round = 0, done = 0; round < rounds; ++round) {
    for (const fl::Index end = std::min(done + chunk, share.size()); done < end; ++done, a = after(a))
      to[static_cast<std::size_t>(fl::part_of(s.words, ranks, place(s, a)))].push_back(a);
    double most = 0;
    for (const auto& some : to) most = std::max(most, static_cast<double>(some.size()));
    fl::maximum(&most, 1);
    for (int away = 0; away < ranks; ++away) {
      auto& some = to[static_cast<std::size_t>((me + away) % ranks)];
      if (away > 0) {
        some.resize(static_cast<std::size_t>(most), 0);
        out.resize(some.size());
        in.resize(some.size());
        std::memcpy(out.data(), some.data(), some.size() * sizeof(Word));
        fl::shift(out.data(), static_cast<fl::Index>(out.size()), (me + away) % ranks, (me + ranks - away) % ranks, in.data());
        std::memcpy(some.data(), in.data(), some.size() * sizeof(Word));
      }
      for (const Word update : some)
        if (update != 0) apply(update);
      some.clear();
    }
  }
}

inline fl::Check check(State& s, fl::Index last) {
  if (s.fetch != nullptr) s.fetch(s);
  update_once_more(s, last);
  fl::Index wrong = 0, first = -1;
  for (fl::Index i = 0; i < s.own.size(); ++i) {
    if (s.table[i] == static_cast<Word>(s.own.begin + i)) continue;
    if (wrong == 0) first = i;
    wrong += 1;
  }
  const double allowed = s.racy && s.team.threads > 1 ? 0.01 * static_cast<double>(s.own.size()) : 0;
  return fl::Check::of(static_cast<double>(wrong), allowed,
                       wrong == 0 ? fl::text("all %lld words are right", s.own.size())
                                  : fl::text("%lld of %lld words are wrong, word %lld first", wrong, s.own.size(), s.own.begin + first));
}

}  // namespace random_access
