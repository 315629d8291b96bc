// noise: the time that the system and the neighbours take from a program that uses every processor.
//
// Two ways to see it, after the originals. A fixed quantum of work is timed again and again; whatever is above its least time was
// taken (FWQ: M. Sottile, R. Minnich, "Analysis of microbenchmarks for performance tuning of clusters", IEEE Cluster 2004). Or the
// clock is read in a tight loop; a gap above a threshold is a detour (selfish: P. Beckman, K. Iskra, K. Yoshii, S. Coghlan, "The
// influence of operating systems on the performance of collective operations at extreme scale", IEEE Cluster 2006; T. Hoefler,
// T. Schneider, A. Lumsdaine, "Characterizing the influence of system noise on large-scale applications by simulation", SC 2010).
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "firstlight/workload.hpp"

namespace noise {

using Nanoseconds = fl::Index;

struct Traits {
  bool looking = false;  // it looks at the clock instead of doing quanta of work
  bool waiting = false;  // after each quantum all processes wait for each other
};

struct Params {
  fl::Index quanta = 20, work = 800'000, looks = 1'000'000, threshold = 1000;
  void declare(fl::Fields& fields) {
    fields.integer("quanta", quanta, "quanta", 2, 1 << 20, "quanta of work in a step");
    fields.integer("work", work, "multiplications", 1, fl::Index{1} << 40, "length of a quantum: a chain of dependent multiplications");
    fields.integer("looks", looks, "looks", 100, fl::Index{1} << 36, "looks at the clock in a step");
    fields.integer("threshold", threshold, "ns", 1, 1'000'000'000, "a gap between two looks that is longer is a detour");
  }
};

struct Detour {
  Nanoseconds begin, length;
};

// What one processor saw in one step. Padded, because its neighbours write at the same time.
struct alignas(128) Party {
  // quanta: `results` and `stamps` before the first and after each; with waiting two stamps a quantum, and the sums over all parties
  fl::Array<std::uint64_t> results, sums;
  fl::Array<Nanoseconds> stamps;
  // looks: the detours, of which only the first `kept` fit; the others are counted and added up
  fl::Array<Detour> detours;
  fl::Index looks = 0, kept = 0, others = 0;
  Nanoseconds begin = 0, end = 0, undisturbed = 0, others_length = 0, longest = 0;
};

struct State {
  fl::Team team;
  Traits traits;
  fl::Index quanta = 0, work = 0, looks = 0;
  Nanoseconds threshold = 0;
  std::uint64_t factor = 0;
  fl::Index iteration = 0;
  Nanoseconds begun = 0;  // when the step began: no stamp of it may be older
  std::vector<Party> parties;
};

inline constexpr fl::About about{
    .title = "Operating system noise",
    .cost = "As many operations as a processor executes one after the other: quanta of work, or clock readings",
    .verified =
        "The final number of each quantum, compared with the closed form of all its steps. The times must be ordered and of this "
        "step. Detours and the time between them must add up to the elapsed time.",
    .tolerance = "Exact",
};

inline constexpr fl::Metric metrics[] = {
    {"quantum", "us", "operations", "time", 1e6, "lower"}, {"noise", "%", "noise", "value", 100, "lower"},
    {"together", "%", "together", "value", 100, "lower"},  {"worst", "us", "worst", "value", 1e6, "lower"},
    {"stolen", "%", "stolen", "value", 100, "lower"},      {"detours", "1/s", "detours", "value", 1, "lower"},
    {"longest", "us", "longest", "value", 1e6, "lower"},   {"look", "ns", "look", "value", 1e9, "lower"},
};

// The same clock as the harness's. Its cost is part of every look and so of the resolution; it is reported.
inline Nanoseconds now() { return fl::clock_nanoseconds(); }

// --- a quantum of work ----------------------------------------------------------------------------------------------------

// A linear congruential generator (Knuth's MMIX). Each step needs the one before it, and the end of any number of steps is known
// in the logarithm of their number, so the check does not repeat the work.
inline constexpr std::uint64_t multiplier = 6364136223846793005ull, increment = 1442695040888963407ull;

inline std::uint64_t seed(fl::Index iteration, fl::Index quantum, fl::Index party) {
  return fl::hash(fl::hash(fl::hash(static_cast<std::uint64_t>(iteration)) + static_cast<std::uint64_t>(quantum)) +
                  static_cast<std::uint64_t>(party));
}

// With waiting, a quantum begins where the sum over all processes of the one before it left off: no process can begin it earlier.
inline std::uint64_t seed_after(fl::Index iteration, fl::Index quantum, fl::Index party, std::uint64_t sum_before) {
  return seed(iteration, quantum, party) ^ (quantum > 0 ? sum_before : 0);
}

// x -> a x + b, composed with itself `steps` times (F. Brown, Trans. Am. Nucl. Soc. 71 (1994) 202).
inline std::uint64_t jump(std::uint64_t x, fl::Index steps) {
  std::uint64_t a = multiplier, b = increment, all_a = 1, all_b = 0;
  for (; steps > 0; steps >>= 1) {
    if (steps & 1) {
      all_a *= a;
      all_b = all_b * a + b;
    }
    b *= a + 1;
    a *= a;
  }
  return all_a * x + all_b;
}

// Nothing of the work may move across the looks at the clock around it.
[[gnu::always_inline]] inline void fixed(std::uint64_t& x) { asm volatile("" : "+r"(x) : : "memory"); }

[[gnu::always_inline]] inline std::uint64_t do_work(std::uint64_t x, std::uint64_t factor, fl::Index steps) {
  fixed(x);
  for (fl::Index k = 0; k < steps; ++k) x = factor * x + increment;
  fixed(x);
  return x;
}

inline fl::Index number(const State& s, fl::Index party) { return s.team.rank * static_cast<fl::Index>(s.parties.size()) + party; }

// One step of quanta without waiting.
[[gnu::always_inline]] inline void do_quanta(State& s, fl::Index party) {
  Party& p = s.parties[static_cast<std::size_t>(party)];
  p.stamps[0] = now();
  for (fl::Index q = 0; q < s.quanta; ++q) {
    p.results[q] = do_work(seed(s.iteration, q, number(s, party)), s.factor, s.work);
    p.stamps[q + 1] = now();
  }
}

// One step of quanta, each followed by add(mine, sum), which waits for the sum over all processes.
template <class Add>
[[gnu::always_inline]] inline void do_summed_quanta(State& s, Add add) {
  Party& p = s.parties[0];
  std::uint64_t sum = 0;
  p.stamps[0] = now();
  for (fl::Index q = 0; q < s.quanta; ++q) {
    p.results[q] = do_work(seed_after(s.iteration, q, s.team.rank, sum), s.factor, s.work);
    p.stamps[2 * q + 1] = now();
    add(p.results[q], sum);
    p.stamps[2 * q + 2] = now();
    p.sums[q] = sum;
  }
}

// --- looks at the clock -------------------------------------------------------------------------------------------------------

inline constexpr fl::Index most_detours = 1 << 14;

[[gnu::always_inline]] inline void look(State& s, fl::Index party) {
  Party& p = s.parties[static_cast<std::size_t>(party)];
  Detour* detours = p.detours.data();
  fl::Index kept = 0, others = 0;
  Nanoseconds undisturbed = 0, others_length = 0, longest = 0;
  const Nanoseconds threshold = s.threshold, begin = now();
  Nanoseconds before = begin;
  for (fl::Index k = 0; k < s.looks; ++k) {
    const Nanoseconds at = now(), gap = at - before;
    if (gap <= threshold) {
      undisturbed += gap;
    } else {
      longest = std::max(longest, gap);
      if (kept < most_detours) {
        detours[kept++] = {before, gap};
      } else {
        ++others;
        others_length += gap;
      }
    }
    before = at;
  }
  p.looks = s.looks;
  p.begin = begin;
  p.end = before;
  p.undisturbed = undisturbed;
  p.kept = kept;
  p.others = others;
  p.others_length = others_length;
  p.longest = longest;
}

// --- the harness's side ---------------------------------------------------------------------------------------------------

inline void init(State& s, const Params& p, const fl::Team& team, const Traits& traits) {
  s.team = team;
  s.traits = traits;
  s.quanta = p.quanta;
  s.work = p.work;
  s.looks = p.looks;
  s.threshold = p.threshold;
  s.factor = multiplier;
  s.parties = std::vector<Party>(static_cast<std::size_t>(team.threads));
  for (Party& party : s.parties) {
    if (traits.looking) {
      party.detours = fl::Array<Detour>(most_detours);
    } else {
      party.results = fl::Array<std::uint64_t>(p.quanta);
      party.sums = fl::Array<std::uint64_t>(p.quanta);
      party.stamps = fl::Array<Nanoseconds>(2 * p.quanta + 1);
    }
  }
}

inline fl::Cost cost(const Params& p, const fl::Team&, const Traits& traits) {
  return {.operations = static_cast<double>(traits.looking ? p.looks : p.quanta)};
}

inline void mutate_inputs(State& s, fl::Index iteration) {
  s.iteration = iteration;
  s.begun = now();
}

inline void poison(State& s) {
  for (Party& p : s.parties) {
    std::fill(p.results.begin(), p.results.end(), fl::poison_bits);
    std::fill(p.sums.begin(), p.sums.end(), fl::poison_bits);
    std::fill(p.stamps.begin(), p.stamps.end(), Nanoseconds{-1});
    std::fill(p.detours.begin(), p.detours.end(), Detour{-1, -1});
    p.looks = p.kept = p.others = -1;
    p.begin = p.end = p.undisturbed = p.others_length = p.longest = -1;
  }
}

fl::Check check(State& s, fl::Index last);
void observe(State& s, fl::Observations& seen);

}  // namespace noise

#include "judge.hpp"
