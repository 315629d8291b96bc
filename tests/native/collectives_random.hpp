// Runs a schedule with numbers for data in an order drawn by chance, as a machine might that takes every liberty: messages may be buffered
// or not, memory is garbage from the posting of a receive until its data is there, additions and copies are not atomic. Knows nothing of
// the checker.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <tuple>
#include <vector>

#include "firstlight/collectives/schedule.hpp"

// All programs of a schedule.
using Programs = std::vector<fl::collectives::Program>;

enum class Ending { right, wrong, stuck };
enum class Buffering { none, some, all };

class RandomRun {
 public:
  // Sends may be complete before their receive is posted: none, some or all. No operation of rank `late` starts before all else has stopped.
  RandomRun(const fl::collectives::Schedule& schedule, const Programs& programs, std::uint64_t seed, Buffering buffering,
            fl::collectives::Rank late = -1);
  Ending run();

 private:
  using Rank = fl::collectives::Rank;
  using Chunk = fl::collectives::Chunk;
  using Operation = fl::collectives::Operation;
  using Kind = fl::collectives::Kind;
  using Space = fl::collectives::Space;
  using Values = std::vector<std::uint64_t>;

  struct Segment {
    Rank rank;
    std::size_t op;
    std::int32_t k;
    int stage = 0;  // 0: not started, 1: started, 2: under way, 3: complete
    std::int64_t partner = -1;
    Values held = {};      // what was read, or came
    bool arrived = false;  // to a combine
    bool buffered = false;
  };

  const Operation& operation(const Segment& s) const { return programs_[static_cast<std::size_t>(s.rank)].operations()[s.op]; }
  std::uint64_t& value(Rank rank, Space space, Chunk chunk);
  Values read(const Segment& s, const fl::collectives::Range& range);
  void write(const Segment& s, const Values& values);
  void garbage(const Segment& s);
  bool may_start(const Segment& s) const;
  bool step(Segment& s);
  bool pass(Segment& s);
  void pair();
  bool right() const;
  bool chance() { return (random_() & 1U) != 0; }

  const fl::collectives::Schedule& schedule_;
  const Programs& programs_;
  std::mt19937_64 random_;
  Buffering buffering_;
  Rank late_;
  bool mismatch_ = false, left_early_ = false;
  std::vector<Segment> segments_;
  std::vector<std::vector<std::size_t>> first_;  // of each rank's operations: index of segment 0
  std::vector<Values> memory_;                   // of each rank: data, input, scratch
  std::vector<Values> before_;
};

inline RandomRun::RandomRun(const fl::collectives::Schedule& schedule, const Programs& programs, std::uint64_t seed, Buffering buffering,
                            Rank late)
    : schedule_(schedule), programs_(programs), random_(seed), buffering_(buffering), late_(late) {
  for (Rank r = 0; r < schedule.ranks; ++r) {
    const auto operations = programs[static_cast<std::size_t>(r)].operations();
    first_.emplace_back();
    for (std::size_t i = 0; i < operations.size(); ++i) {
      first_.back().push_back(segments_.size());
      for (std::int32_t k = 0; k < operations[i].range.segments; ++k) segments_.push_back({.rank = r, .op = i, .k = k});
    }
    memory_.emplace_back(static_cast<std::size_t>(2 * schedule.chunks + schedule.scratch));
    for (std::uint64_t& v : memory_.back()) v = random_();
  }
  before_ = memory_;
  pair();
}

inline std::uint64_t& RandomRun::value(Rank rank, Space space, Chunk chunk) {
  const Chunk base = space == Space::data ? 0 : space == Space::input ? schedule_.chunks : 2 * schedule_.chunks;
  return memory_[static_cast<std::size_t>(rank)].at(static_cast<std::size_t>(base + chunk));
}

inline RandomRun::Values RandomRun::read(const Segment& s, const fl::collectives::Range& range) {
  Values values;
  for (Chunk i = 0; i < range.count; ++i) values.push_back(value(s.rank, range.space, range.chunk(s.k, i)));
  return values;
}

inline void RandomRun::write(const Segment& s, const Values& values) {
  const auto& range = operation(s).range;
  for (Chunk i = 0; i < range.count; ++i) value(s.rank, range.space, range.chunk(s.k, i)) = values[static_cast<std::size_t>(i)];
}

inline void RandomRun::garbage(const Segment& s) {
  const auto& range = operation(s).range;
  for (Chunk i = 0; i < range.count; ++i) value(s.rank, range.space, range.chunk(s.k, i)) = random_();
}

// Messages of one pair and tag match in the order of both programs.
inline void RandomRun::pair() {
  std::map<std::tuple<Rank, Rank, std::int32_t>, std::pair<std::vector<std::size_t>, std::vector<std::size_t>>> all;
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    const Operation& o = operation(segments_[i]);
    if (o.kind == Kind::send) all[{segments_[i].rank, o.peer, o.tag}].first.push_back(i);
    if (o.kind == Kind::receive || o.kind == Kind::combine) all[{o.peer, segments_[i].rank, o.tag}].second.push_back(i);
  }
  for (const auto& [key, ends] : all) {
    const auto& [sends, receives] = ends;
    mismatch_ |= sends.size() != receives.size();
    for (std::size_t i = 0; i < std::min(sends.size(), receives.size()); ++i) {
      segments_[sends[i]].partner = static_cast<std::int64_t>(receives[i]);
      segments_[receives[i]].partner = static_cast<std::int64_t>(sends[i]);
      mismatch_ |= operation(segments_[sends[i]]).range.count != operation(segments_[receives[i]]).range.count;
    }
  }
}

inline bool RandomRun::may_start(const Segment& s) const {
  const auto& program = programs_[static_cast<std::size_t>(s.rank)];
  const auto& firsts = first_[static_cast<std::size_t>(s.rank)];
  if (s.rank == late_) return false;
  if (s.k > 0 && segments_[firsts[s.op] + static_cast<std::size_t>(s.k) - 1].stage == 0) return false;
  for (const auto& d : program.after(operation(s))) {
    const auto on = static_cast<std::size_t>(d.on);
    const std::int32_t many = program.operations()[on].range.segments;
    const bool by_segment = many == operation(s).range.segments;
    for (std::int32_t k = by_segment ? s.k : 0; k < (by_segment ? s.k + 1 : many); ++k)
      if (segments_[firsts[on] + static_cast<std::size_t>(k)].stage < (d.started ? 1 : 3)) return false;
  }
  return true;
}

// A message between a send that has started and its receive: matched, then complete.
inline bool RandomRun::pass(Segment& s) {
  if (s.partner < 0) return false;
  Segment& r = segments_[static_cast<std::size_t>(s.partner)];
  const bool combine = operation(r).kind == Kind::combine;
  if ((!combine && r.stage == 0) || r.arrived) return false;
  if (s.stage == 1) {
    s.stage = 2;
    if (!s.buffered && chance()) s.held = read(s, operation(s).range);
    if (!combine) garbage(r);
    return true;
  }
  r.held = s.held.empty() ? read(s, operation(s).range) : s.held;
  r.arrived = true;
  s.stage = 3;
  if (combine) return true;
  write(r, r.held);
  r.stage = 3;
  return true;
}

inline bool RandomRun::step(Segment& s) {
  const Operation& o = operation(s);
  if (s.stage == 3 && !(s.buffered && s.partner >= 0 && !segments_[static_cast<std::size_t>(s.partner)].arrived)) return false;
  if (s.stage == 0) {
    if (!may_start(s)) return false;
    s.stage = 1;
    if (o.kind == Kind::receive && chance()) garbage(s);
    if (o.kind == Kind::send && (buffering_ == Buffering::all || (buffering_ == Buffering::some && chance()))) {
      s.held = read(s, o.range);
      s.buffered = true;
      s.stage = 3;
    }
    return true;
  }
  switch (o.kind) {
    case Kind::send:
      if (s.stage == 3) s.stage = 2;  // buffered: the sender went on
      return pass(s) || (s.buffered && (s.stage = 3, false));
    case Kind::receive:
      return false;
    case Kind::combine:
      if (!s.arrived) return false;
      if (s.stage == 1) {
        const Values here = read(s, o.range);
        for (std::size_t i = 0; i < here.size(); ++i) s.held[i] += here[i];
        s.stage = 2;
        return true;
      }
      break;
    case Kind::copy:
      if (s.stage == 1) {
        s.held = read(s, o.source);
        s.stage = 2;
        return true;
      }
      break;
    case Kind::compute:
      s.stage = 3;
      return true;
  }
  write(s, s.held);
  s.stage = 3;
  return true;
}

inline Ending RandomRun::run() {
  if (mismatch_) return Ending::wrong;
  std::vector<std::size_t> open(segments_.size());
  for (std::size_t i = 0; i < open.size(); ++i) open[i] = i;
  const auto finished = [this](std::size_t i) {
    const Segment& s = segments_[i];
    return s.stage == 3 && (!s.buffered || s.partner < 0 || segments_[static_cast<std::size_t>(s.partner)].arrived);
  };
  while (!open.empty()) {
    bool moved = false;
    std::shuffle(open.begin(), open.end(), random_);
    for (std::size_t n = 0; n < open.size(); ++n)
      if (chance()) moved |= step(segments_[open[n]]);
    for (std::size_t n = 0; !moved && n < open.size(); ++n) moved = step(segments_[open[n]]);
    std::erase_if(open, finished);
    if (moved) continue;
    if (late_ < 0) return Ending::stuck;
    for (Rank r = 0; r < schedule_.ranks; ++r)  // a barrier that others left although one has not come
      if (r != late_ && std::ranges::all_of(segments_, [r](const Segment& s) { return s.rank != r || s.stage == 3; })) left_early_ = true;
    late_ = -1;
  }
  return right() && !left_early_ ? Ending::right : Ending::wrong;
}

inline bool RandomRun::right() const {
  using fl::collectives::Collective;
  const auto& s = schedule_;
  const Chunk block = std::max<Chunk>(1, s.chunks / s.ranks);
  auto had = [&](Rank rank, Chunk place) { return before_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(place)]; };
  for (Rank rank = 0; rank < s.ranks; ++rank)
    for (Chunk c = 0; c < s.chunks; ++c) {
      std::uint64_t sum = 0;
      for (Rank r = 0; r < s.ranks; ++r) sum += had(r, c);
      const auto owner = static_cast<Rank>(c / block);
      const std::uint64_t is = memory_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(c)];
      bool good = true;
      switch (s.collective) {
        case Collective::broadcast:
          good = is == had(s.root, c);
          break;
        case Collective::reduce:
          good = rank != s.root || is == sum;
          break;
        case Collective::allreduce:
          good = is == sum;
          break;
        case Collective::allgather:
          good = is == had(owner, c);
          break;
        case Collective::reduce_scatter:
          good = rank != owner || is == sum;
          break;
        case Collective::alltoall:
          good = is == had(owner, s.chunks + rank * block + c % block);
          break;
        case Collective::barrier:
        case Collective::other:
          break;
      }
      if (!good) return false;
    }
  return true;
}
