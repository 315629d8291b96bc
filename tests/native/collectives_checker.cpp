// Runs the checker of collectives on requests in words:
//
//   check COLLECTIVE ALGORITHM RANKS|AxBxC [root [segments]]    the verdict, a JSON object
//   sweep RANKS|AxBxC...                                        all algorithms, roots and segments: what is not proved, and how many were
//   symmetry RANKS|AxBxC...                                     what one rank proves for all against what all prove
//   run SEED RANKS|AxBxC                                        random runs of all
//   example WORD                                                the message about some mistakes
//   loads COLLECTIVE ALGORITHM AxBxC FIRST_ROUND                the sum over rounds of the busiest link's load, in chunks
//   mutate SEED RANKS|AxBxC...                                  all mutations of all of these, against random runs
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <numeric>
#include <string>
#include <vector>

#include "collectives_mutations.hpp"
#include "firstlight/collectives/algorithm.hpp"
#include "firstlight/collectives/checker.hpp"

using namespace fl::collectives;

namespace {

constexpr Collective collectives[] = {Collective::broadcast,      Collective::reduce,   Collective::allreduce, Collective::allgather,
                                      Collective::reduce_scatter, Collective::alltoall, Collective::barrier};

bool rooted(Collective c) { return c == Collective::broadcast || c == Collective::reduce; }

Problem problem(std::string_view text) {
  Problem p;
  p.ranks = 1;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('x', at), text.size());
    Rank extent = 0;
    std::from_chars(text.data() + at, text.data() + end, extent);
    p.shape.push_back(extent);
    p.ranks *= extent;
    at = end + 1;
  }
  if (p.shape.size() == 1) p.shape.clear();
  return p;
}

std::string line(const Problem& p, const Algorithm& a) {
  std::string words = std::string(word(p.collective)) + " " + a.name + " ranks " + std::to_string(p.ranks);
  for (const Rank extent : p.shape) words += " x" + std::to_string(extent);
  return words + " root " + std::to_string(p.root) + " segments " + std::to_string(p.segments);
}

// Calls `f` with every problem of this size that has another schedule.
template <class F>
void each(Problem p, bool all_roots, const F& f) {
  for (const Algorithm* a : all_algorithms())
    for (const Collective c : collectives)
      for (Rank root = 0; root < (rooted(c) ? p.ranks : 1); root += all_roots ? 1 : std::max(1, p.ranks / 2 - 1))
        for (const std::int32_t segments : {1, 4}) {
          if (a->form(c) == nullptr || (segments > 1 && !a->pipelined)) continue;
          p.collective = c;
          p.root = root;
          p.segments = segments;
          try {
            f(*a, p, schedule(*a, p));
          } catch (const Refused&) {
          }
        }
}

int sweep(int count, char** words) {
  std::int64_t proved = 0, wrong = 0;
  for (int i = 0; i < count; ++i)
    each(problem(words[i]), problem(words[i]).ranks < 40, [&](const Algorithm& a, const Problem& p, const Schedule& s) {
      const Verdict v = check(s);
      if (v && v.in_rounds && v.why.empty()) {
        ++proved;
        return;
      }
      ++wrong;
      std::cout << line(p, a) << ": " << (v.why.empty() ? "rounds do not fit" : v.why) << "\n";
    });
  std::cout << "proved " << proved << "\n";
  return wrong == 0 ? 0 : 1;
}

int ask(int count, char** words) {
  Problem p = problem(words[2]);
  p.collective = collective_named(words[0]).value();
  const Algorithm* a = find_algorithm(words[1]);
  if (count > 3) p.root = std::atoi(words[3]);
  if (count > 4) p.segments = std::atoi(words[4]);
  try {
    const Verdict v = check(schedule(*a, p));
    auto flag = [](bool b) { return b ? "true" : "false"; };
    std::cout << "{\"correct\":" << flag(v.correct) << ",\"deadlock_free\":" << flag(v.deadlock_free)
              << ",\"race_free\":" << flag(v.race_free) << ",\"in_rounds\":" << flag(v.in_rounds)
              << ",\"by_symmetry\":" << flag(v.by_symmetry) << ",\"why\":\"" << v.why << "\",\"operations\":" << v.operations
              << ",\"messages\":" << v.messages << ",\"segments_sent\":" << v.segments_sent << ",\"depth\":" << v.depth
              << ",\"rounds\":" << v.rounds << "}\n";
  } catch (const Refused& r) {
    std::cout << "{\"refused\":\"" << r.what() << "\"}\n";
  }
  return 0;
}

// The sum over rounds of the load of the busiest link of a torus, in chunks: dimension-order routing, the shorter way round; where both
// are equal, half of a message goes each way.
double loads(const Schedule& s, std::int32_t first_round) {
  std::vector<std::vector<double>> rounds;
  Program program;
  const std::size_t axes = s.shape.size();
  for (Rank rank = 0; rank < s.ranks; ++rank) {
    program.clear();
    s.program(rank, program);
    for (const Operation& o : program.operations()) {
      if (o.kind != Kind::send || o.round < first_round) continue;
      const auto round = static_cast<std::size_t>(o.round - first_round);
      if (rounds.size() <= round) rounds.resize(round + 1);
      if (rounds[round].empty()) rounds[round].resize(static_cast<std::size_t>(s.ranks) * 2 * axes);
      Rank at = rank, stride = 1;
      for (std::size_t axis = 0; axis < axes; ++axis, stride *= s.shape[axis - 1]) {
        const Rank extent = s.shape[axis], from = at / stride % extent, to = o.peer / stride % extent;
        const Rank ahead = (to - from + extent) % extent, behind = (extent - ahead) % extent;
        for (const Rank way : {1, -1}) {
          const Rank far = way == 1 ? ahead : behind;
          if (far == 0 || far > (extent - far)) continue;
          const double load = static_cast<double>(o.range.count) * (2 * far == extent ? 0.5 : 1);
          for (Rank k = 0, x = from; k < far; ++k, x = (x + way + extent) % extent)
            rounds[round][(static_cast<std::size_t>(at + (x - from) * stride) * axes + axis) * 2 + (way == 1 ? 0 : 1)] += load;
        }
        at += (to - from) * stride;
      }
    }
  }
  double sum = 0;
  for (const auto& links : rounds) sum += links.empty() ? 0 : *std::ranges::max_element(links);
  return sum;
}

// Compares the proof from one rank with the proof from all ranks.
int symmetry(int count, char** words) {
  int agreed = 0, differ = 0;
  for (int i = 0; i < count; ++i)
    each(problem(words[i]), false, [&](const Algorithm& a, const Problem& p, const Schedule& s) {
      if (s.symmetry == Symmetry::none) return;
      const Verdict all = check(s, Thoroughness::all_ranks), one = check(s, Thoroughness::one_rank);
      const bool same = bool(all) == bool(one) && all.depth == one.depth && all.rounds == one.rounds && all.operations == one.operations &&
                        all.messages == one.messages && all.in_rounds == one.in_rounds && !all.by_symmetry;
      (same ? agreed : differ) += one.by_symmetry || !same ? 1 : 0;
      if (!same) std::cout << line(p, a) << ": " << one.why << "\n";
    });
  std::cout << "agreed " << agreed << "\n";
  return differ == 0 ? 0 : 1;
}

// Random runs of all algorithms.
int random_runs(std::uint64_t seed, const char* text) {
  int wrong = 0;
  each(problem(text), false, [&](const Algorithm& a, const Problem& p, const Schedule& s) {
    Programs programs(static_cast<std::size_t>(s.ranks));
    for (Rank r = 0; r < s.ranks; ++r) s.program(r, programs[static_cast<std::size_t>(r)]);
    const Rank late = p.collective == Collective::barrier ? static_cast<Rank>(seed % static_cast<std::uint64_t>(p.ranks)) : -1;
    for (const Buffering buffering : {Buffering::none, Buffering::some, Buffering::all}) {
      if (RandomRun(s, programs, seed++, buffering, late).run() == Ending::right) continue;
      ++wrong;
      std::cout << line(p, a) << "\n";
    }
  });
  std::cout << (wrong == 0 ? "right" : "wrong") << "\n";
  return wrong == 0 ? 0 : 1;
}

// Mistakes between two ranks, and the messages about them.
int example(const std::string& which) {
  if (which == "lengths") {  // as in a file: no place of any byte
    const Schedule s{.collective = Collective::other, .ranks = 2, .program = [](Rank me, Program& out) {
                       if (me == 0) out.send(1, chunks(0, 1 << 20), {out.compute(500)});
                       if (me == 1) out.receive(0, chunks(0, 1 << 20), {out.receive(0, chunks(0, 4), {}, 1)});
                       if (me == 0) out.send(1, chunks(0, 4), {}, 1);
                     }};
    std::cout << (check(s) ? "nothing" : check(s).why) << "\n";
    return 0;
  }
  if (which == "rounds") {  // the last round of sums is one too late
    Schedule s = schedule(*find_algorithm("ring"), {.collective = Collective::allreduce, .ranks = 5});
    s.rounds.begins = {0, 5, 8};
    std::cout << check(s).why << "\n";
    return 0;
  }
  const Schedule s{.collective = Collective::allreduce, .ranks = 2, .program = [which](Rank me, Program& out) {
                     const Rank other = 1 - me;
                     const Range all = chunks(0, 1);
                     if (which == "lost" && me == 1) return;
                     const Op sent = out.send(other, all);
                     if (which == "lost") return;
                     if (which == "cycle") {
                       out.receive(other, all, {sent});
                       return;
                     }
                     const Op again = me == 1 ? out.send(other, all) : no_op;
                     const Op sum = out.combine(other, all, {sent, again});
                     if (me == 0) out.combine(other, all, {sum});
                   }};
  std::cout << check(s).why << "\n";
  return 0;
}

}  // namespace

int main(int count, char** words) {
  const std::string what = count > 1 ? words[1] : "";
  if (what == "symmetry") return symmetry(count - 2, words + 2);
  if (what == "run" && count == 4) return random_runs(static_cast<std::uint64_t>(std::atoll(words[2])), words[3]);
  if (what == "example" && count == 3) return example(words[2]);
  if (what == "sweep") return sweep(count - 2, words + 2);
  if (what == "check" && count >= 5) return ask(count - 2, words + 2);
  if (what == "loads" && count == 6) {
    Problem p = problem(words[4]);
    p.collective = collective_named(words[2]).value();
    Schedule s = schedule(*find_algorithm(words[3]), p);
    s.shape = p.shape;
    std::cout << loads(s, std::atoi(words[5])) << "\n";
    return 0;
  }
  if (what == "mutate" && count >= 4) {
    Mutations all(static_cast<std::uint64_t>(std::atoll(words[2])));
    for (int i = 3; i < count; ++i)
      each(problem(words[i]), false, [&](const Algorithm& a, const Problem& p, const Schedule& s) { all.of(line(p, a), s); });
    return all.report();
  }
  std::cerr << "see the head of this file\n";
  return 2;
}
