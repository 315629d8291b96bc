// The check: the tallies of messages, then every word that came.
#pragma once

#include "firstlight/error_summary.hpp"
#include "patterns.hpp"

namespace patterns {

// In which of `repetitions` word i of n was written last; negative: in none.
inline fl::Index written(fl::Index n, fl::Index i, fl::Index repetitions) {
  if (i == 0 || i == n - 1) return repetitions - 1;
  for (fl::Index t = repetitions - 1; t >= std::max<fl::Index>(repetitions - places, 0); --t)
    if (place(n, t) == i) return t;
  return -1;
}

// The keys of all members of a group together.
inline Word keys(const Stage& g, std::size_t number) {
  Word sum = 0;
  for (data::Rank m = 0; m < g.group.count; ++m) sum += key_of(g.group.rank(m), number);
  return sum;
}

// Word i of the result of a collective operation on this rank.
inline Word expected(const State& s, const Stage& g, std::size_t number, Word all, fl::Index i, fl::Index repetitions) {
  const fl::Index mine = g.group.member(s.team.rank) * g.n;
  const auto at = [&](Word key, fl::Index j) { return key * moment(j, s.epoch, written(g.given.n, j, repetitions)); };
  const auto of_member = [&](fl::Index m) { return key_of(g.group.rank(static_cast<data::Rank>(m)), number); };
  switch (g.collective) {
    case Collective::broadcast:
      return at(of_member(g.root), i);
    case Collective::allgather:
      return at(of_member(i / g.n), i % g.n);
    case Collective::alltoall:
      return at(of_member(i / g.n), mine + i % g.n);
    case Collective::reduce_scatter:
      return at(all, mine + i);
    default:
      return at(all, i);
  }
}

template <class Expected>
inline void compare(const State& s, std::size_t number, const Channel& c, const std::string& from, fl::ErrorSummary& damage,
                    Expected expected) {
  for (fl::Index i = 0; i < c.n + guard; ++i) {
    const Word wanted = i < c.n ? expected(i) : fl::poison_bits;
    if (c.words[i] == wanted) continue;
    damage.add([&] {
      return fl::text("%s, rank %d: word %lld of %lld %s is 0x%llx, should be 0x%llx", s.instance.phases[number].name.c_str(), s.team.rank,
                      i, c.n, from.c_str(), static_cast<unsigned long long>(c.words[i]), static_cast<unsigned long long>(wanted));
    });
  }
}

inline void inspect_tally(const State& s, std::size_t number, const Channel& c, fl::Index first, fl::Index repetitions,
                          fl::ErrorSummary& damage) {
  Word tally = 0;
  for (fl::Index t = first; t < repetitions; ++t)
    each_new(c.n, t, [&](fl::Index i) { tally += static_cast<Word>(t + 1) * c.key * moment(i, s.epoch, t); });
  if (tally == c.tally) return;
  damage.add([&] {
    return fl::text("%s: of %lld messages from rank %d to rank %d some were lost or arrived out of order",
                    s.instance.phases[number].name.c_str(), repetitions - first, c.peer, s.team.rank);
  });
}

inline void inspect(State& s, fl::ErrorSummary& damage) {
  for (std::size_t k = 0; k < s.stages.size(); ++k) {
    Stage& g = s.stages[k];
    const fl::Index of_step = s.instance.phases[k].repetitions, repetitions = s.steps * of_step;
    for (const Channel& c : g.in) {
      compare(s, k, c, fl::text("from rank %d", c.peer), damage,
              [&](fl::Index i) { return c.key * moment(i, s.epoch, written(c.n, i, repetitions)); });
      inspect_tally(s, k, c, s.counted_from * of_step, repetitions, damage);
    }
    if (g.collective == Collective::other || !gets(s, g)) continue;
    const Word all = keys(g, k);
    compare(s, k, g.got, "of the result", damage, [&](fl::Index i) { return expected(s, g, k, all, i, repetitions); });
  }
}

inline fl::Check check(State& s, fl::Index) {
  fl::ErrorSummary damage;
  inspect(s, damage);
  for (int round = 0; round < 2; ++round) {
    fl::barrier();  // no rank fills what another may still wait for
    ++s.epoch;
    fill(s);
    poison(s);
    fl::run_steps(fl::beyond_timing + s.epoch, 1);
    inspect(s, damage);
  }
  ++s.epoch;  // what follows is timed, and begins to count anew
  fill(s);
  poison(s);
  return damage.check(fl::text("every word of %zu phases is exact", s.stages.size()));
}

}  // namespace patterns

namespace fl::patterns {
using namespace ::patterns;  // fl::workload looks this workload's names up in fl first, where the library of patterns is
}
