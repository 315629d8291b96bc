#include "iteration.hpp"

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>

namespace simulate {

namespace {

namespace collectives = fl::collectives;
namespace pattern = fl::patterns;
using collectives::Chunk;
using collectives::Collective;
using collectives::Kind;
using collectives::Op;
using collectives::Operation;
using collectives::Program;
using collectives::Rank;
using collectives::Refused;
using collectives::Schedule;

constexpr Rank most_sampled = 64;  // ranks whose programs are counted to estimate the number of operations

// MPICH's algorithms, with the limits as published; bytes as Together has them.
const char* usual(Collective collective, double bytes, Rank ranks) {
  const bool power = std::has_single_bit(static_cast<unsigned>(ranks));
  const double all = bytes * ranks;
  switch (collective) {
    case Collective::broadcast:
      return bytes < 12288 || ranks < 8 ? "binomial" : "scatter_allgather";
    case Collective::reduce:
      return bytes <= 2048 ? "binomial" : "rabenseifner";
    case Collective::allreduce:
      return bytes <= 2048 ? "recursive_doubling" : "rabenseifner";
    case Collective::allgather:
      return power && all < 524288 ? "recursive_doubling" : all < 81920 ? "bruck" : "ring";
    case Collective::reduce_scatter:
      return all < 524288 && power ? "recursive_halving" : "pairwise";
    case Collective::alltoall:
      return bytes <= 256 ? "bruck" : bytes <= 32768 ? "linear" : "pairwise";
    default:
      return "dissemination";
  }
}

// A collective operation of so many members, and its number of rounds.
struct Within {
  Schedule schedule;
  std::int64_t bytes = 0;  // of all chunks
  std::int32_t rounds = 1;
};

using Kept = std::tuple<std::size_t, Rank, std::int64_t>;  // phase, members, bytes

std::int32_t rounds_of(const Schedule& schedule) {
  Program program;
  std::int32_t most = 0;
  for (Rank r = 0; r < schedule.ranks; ++r) {
    program.clear();
    schedule.program(r, program);
    for (const Operation& o : program.operations()) {
      if (o.range.segments != 1) throw Refused(schedule.name + " splits messages, which phases of a pattern do not support");
      most = std::max(most, o.round);
    }
  }
  return most + 1;
}

// Bytes of the chunks that an operation touches, where chunk c of C contains [c N / C, (c + 1) N / C) of N.
std::int64_t bytes_of(const collectives::Range& range, std::int64_t bytes, Chunk chunks) {
  const auto before = [&](Chunk c) { return static_cast<std::int64_t>(static_cast<__int128>(bytes) * c / chunks); };
  if (range.run == 0 && range.row == 0) return before(range.first + range.count) - before(range.first);
  std::int64_t sum = 0;
  for (Chunk i = 0; i < range.count; ++i) {
    const Chunk c = range.chunk(0, i);
    sum += before(c + 1) - before(c);
  }
  return sum;
}

}  // namespace

struct Iteration::Parts {
  pattern::Instance instance;
  std::vector<pattern::Pass> passes;
  std::map<Kept, Within> within;
  std::vector<std::int32_t> rounds;  // of each phase
  std::vector<Carried> carried;
  Rank nodes = 1;

  // What a rank has done so far.
  struct Writing {
    Program& out;
    Op done = collectives::no_op;
    Op begun = collectives::no_op;  // what the phase before waited for
    std::int32_t round = 0;
  };

  void messages(Rank me, const pattern::Phase& phase, Writing& w) const {
    pattern::Messages in, out;
    phase.receives(me, in);
    phase.sends(me, out);
    w.out.round(w.round);
    for (const pattern::Message& m : in)
      for (std::int32_t k = 0; k < m.count && m.peer != me; ++k) w.out.receive(m.peer, collectives::chunks(0, m.bytes), {w.done});
    for (const pattern::Message& m : out)
      for (std::int32_t k = 0; k < m.count; ++k) {
        const collectives::Range what = collectives::chunks(0, m.bytes);
        m.peer == me ? w.out.copy(what, what, {w.done}) : w.out.send(m.peer, what, {w.done});
      }
  }

  void together(Rank me, std::size_t number, Writing& w) const {
    const pattern::Together& t = instance.phases[number].together;
    const pattern::Group g = t.group(me);
    const auto found = within.find(Kept{number, g.count, t.bytes(g)});
    if (found == within.end()) return;  // one member alone
    const Within& of = found->second;
    Program own;
    of.schedule.program(g.member(me), own);
    const auto first = static_cast<Op>(w.out.operations().size());
    std::vector<collectives::Dependency> after;
    for (Operation o : own.operations()) {
      after.clear();
      for (const collectives::Dependency& d : own.after(o)) after.push_back({first + d.on, d.started});
      if (after.empty()) after.push_back({w.done});
      if (o.peer >= 0) o.peer = g.rank(o.peer);
      o.round += w.round;
      if (o.kind != Kind::compute)
        o.range = collectives::chunks(0, of.schedule.chunks == 0 ? 0 : bytes_of(o.range, of.bytes, of.schedule.chunks));
      w.out.add(o, after);
    }
  }

  static void work(const pattern::Phase& phase, Writing& w) {
    w.out.round(w.round);
    w.out.add({.kind = Kind::compute, .cpu = 1, .range = {.count = phase.work}}, {w.done});
  }

  // Everything of a phase, and what waits for all of it.
  void phase(Rank me, std::size_t number, Writing& w) const {
    const pattern::Phase& p = instance.phases[number];
    const Op other = p.beside ? std::exchange(w.done, w.begun) : collectives::no_op;
    w.begun = w.done;
    const auto first = static_cast<Op>(w.out.operations().size());
    if (p.collective())
      together(me, number, w);
    else if (p.work > 0)
      work(p, w);
    else
      messages(me, p, w);
    w.round += rounds[number];
    const auto end = static_cast<Op>(w.out.operations().size());
    if (end == first) {
      if (p.beside) w.done = other;
      return;
    }
    w.out.round(w.round - 1);
    const Op done = w.out.compute(0);
    for (Op o = first; o < end; ++o) w.out.also(o);
    w.out.also(other);
    w.done = done;
  }

  void program(Rank me, std::span<const std::int64_t> times, Program& out) const {
    if (me >= instance.ranks) return;
    Writing w{out};
    for (std::size_t k = 0; k < passes.size(); ++k)
      for (std::int64_t again = 0; again < times[k]; ++again)
        for (const std::size_t number : passes[k].phases) phase(me, number, w);
  }
};

Iteration::Iteration(pattern::Instance instance, const Choices& choices, Rank nodes, std::vector<Rank> shape, std::vector<bool> open) {
  auto parts = std::make_shared<Parts>();
  parts->passes = pattern::passes(instance);
  parts->nodes = nodes;
  for (std::size_t number = 0; number < instance.phases.size(); ++number) {
    const pattern::Phase& phase = instance.phases[number];
    parts->rounds.push_back(1);
    if (!phase.collective()) continue;
    const pattern::Together& t = phase.together;
    for (Rank r = 0; r < instance.ranks; ++r) {
      const pattern::Group g = t.group(r);
      const std::int64_t bytes = t.bytes(g);
      if (g.first != r || g.count < 2 || parts->within.contains({number, g.count, bytes})) continue;
      const auto chosen = choices.find(t.collective);
      const collectives::Algorithm* algorithm =
          chosen != choices.end() ? chosen->second : collectives::find_algorithm(usual(t.collective, static_cast<double>(bytes), g.count));
      if (algorithm == nullptr) throw Refused(std::string("there is no schedule for ") + collectives::word(t.collective));
      collectives::Problem problem{.collective = t.collective, .ranks = g.count, .root = t.root};
      if (g.count == nodes) {
        problem.shape = shape;
        problem.open = open;
      }
      Within of{.schedule = collectives::schedule(*algorithm, problem)};
      of.rounds = rounds_of(of.schedule);
      const bool blocks =
          t.collective == Collective::allgather || t.collective == Collective::reduce_scatter || t.collective == Collective::alltoall;
      of.bytes = blocks ? bytes * g.count : bytes;
      parts->rounds[number] = std::max(parts->rounds[number], of.rounds);
      parts->within.emplace(Kept{number, g.count, bytes}, std::move(of));
      parts->carried.push_back({phase.name, t.collective, g.count, bytes, algorithm->name});
    }
  }
  parts->instance = std::move(instance);
  parts_ = std::move(parts);
}

std::span<const pattern::Pass> Iteration::passes() const { return parts_->passes; }
std::span<const Carried> Iteration::carried() const { return parts_->carried; }

std::vector<double> Iteration::operations() const {
  const Rank ranks = parts_->instance.ranks, sampled = std::min(ranks, most_sampled);
  std::vector<double> all;
  Program program;
  for (std::size_t k = 0; k < parts_->passes.size(); ++k) {
    std::vector<std::int64_t> times(parts_->passes.size(), 0);
    times[k] = 1;
    std::size_t sum = 0;
    for (Rank i = 0; i < sampled; ++i) {
      program.clear();
      parts_->program(static_cast<Rank>(std::int64_t{i} * ranks / sampled), times, program);
      sum += program.operations().size();
    }
    all.push_back(static_cast<double>(sum) * ranks / sampled);
  }
  return all;
}

Schedule Iteration::schedule(std::vector<std::int64_t> times) const {
  return {.collective = Collective::other,
          .name = "",
          .ranks = parts_->nodes,
          .chunk_bytes = 1,
          .program = [parts = parts_, times = std::move(times)](Rank me, Program& out) { parts->program(me, times, out); }};
}

}  // namespace simulate
