// Every way to damage a schedule slightly, and the checker's result for each.
//
// The referee is RandomRun. What the checker accepts must end right in every run: the mutation was harmless. What it calls incorrect or
// deadlocked, though free of races, must end wrong in every run without buffers, for such a schedule has one outcome only; a barrier that
// may be left too early, in some run with buffers. What races ends as it likes; how many were seen to end wrong is counted.
#pragma once

#include <cstdint>
#include <functional>
#include <iostream>
#include <map>
#include <string>

#include "collectives_random.hpp"
#include "firstlight/collectives/checker.hpp"

class Mutations {
 public:
  explicit Mutations(std::uint64_t seed) : seed_(seed) {}

  // All mutations of one schedule.
  void of(const std::string& name, const fl::collectives::Schedule& schedule);
  int report() const;

 private:
  using Schedule = fl::collectives::Schedule;
  using Operation = fl::collectives::Operation;
  using Program = fl::collectives::Program;
  using Kind = fl::collectives::Kind;
  using Op = fl::collectives::Op;
  using Rank = fl::collectives::Rank;

  struct Tally {
    int all = 0, caught = 0, harmless = 0, races = 0, races_seen = 0;
  };

  static bool message(const Operation& o) { return o.kind == Kind::send || o.kind == Kind::receive || o.kind == Kind::combine; }
  static Program without(const Program& program, std::size_t dropped);
  static Program with_again(const Program& program, std::size_t repeated);
  static void wait_for_previous(Program& program, std::size_t i);
  void operations(Rank rank, std::size_t i);
  void dependencies(Rank rank, std::size_t i);
  void pairs(Rank rank, std::size_t i);
  void changed(const char* kind, Rank rank, const std::function<void(Program&)>& change);
  void judge(const char* kind, const Schedule& schedule, const Programs& programs);

  std::uint64_t seed_;
  std::string name_;
  Schedule schedule_;
  Programs programs_;
  std::map<std::string, Tally> tallies_;
  int mistakes_ = 0;
};

inline void Mutations::of(const std::string& name, const Schedule& schedule) {
  name_ = name;
  schedule_ = schedule;
  schedule_.symmetry = fl::collectives::Symmetry::none;  // a mutant has none
  programs_.assign(static_cast<std::size_t>(schedule.ranks), {});
  for (Rank r = 0; r < schedule.ranks; ++r) schedule.program(r, programs_[static_cast<std::size_t>(r)]);
  judge("none", schedule_, programs_);
  const bool rooted =
      schedule.collective == fl::collectives::Collective::broadcast || schedule.collective == fl::collectives::Collective::reduce;
  if (rooted && schedule.ranks > 1) {
    Schedule elsewhere = schedule_;
    elsewhere.root = (schedule.root + 1) % schedule.ranks;
    judge("another root", elsewhere, programs_);
  }
  Programs blocking = programs_;
  for (Program& p : blocking)
    for (std::size_t i = 1; i < p.operations().size(); ++i) wait_for_previous(p, i);
  judge("wait for what precedes everywhere", schedule_, blocking);
  for (Rank r = 0; r < schedule.ranks; ++r)
    for (std::size_t i = 0; i < programs_[static_cast<std::size_t>(r)].operations().size(); ++i) {
      operations(r, i);
      dependencies(r, i);
      pairs(r, i);
    }
}

inline Mutations::Program Mutations::without(const Program& program, std::size_t dropped) {
  Program made;
  for (std::size_t i = 0; i < program.operations().size(); ++i) {
    if (i == dropped) continue;
    std::vector<fl::collectives::Dependency> after;
    for (auto d : program.after(program.operations()[i])) {
      if (static_cast<std::size_t>(d.on) == dropped) continue;
      if (static_cast<std::size_t>(d.on) > dropped) --d.on;
      after.push_back(d);
    }
    made.add(program.operations()[i], std::span<const fl::collectives::Dependency>(after));
  }
  return made;
}

inline Mutations::Program Mutations::with_again(const Program& program, std::size_t repeated) {
  Program made = program;
  const Operation o = program.operations()[repeated];
  std::vector<fl::collectives::Dependency> after(program.after(o).begin(), program.after(o).end());
  after.push_back({static_cast<Op>(repeated)});
  made.add(o, std::span<const fl::collectives::Dependency>(after));
  return made;
}

// Orders operations like blocking calls.
inline void Mutations::wait_for_previous(Program& program, std::size_t i) {
  Program made;
  for (std::size_t j = 0; j < program.operations().size(); ++j) {
    made.add(program.operations()[j], program.after(program.operations()[j]));
    if (j == i) made.also(static_cast<Op>(i) - 1);
  }
  program = made;
}

inline void Mutations::operations(Rank rank, std::size_t i) {
  const Operation o = programs_[static_cast<std::size_t>(rank)].operations()[i];
  const auto set = [&](const char* kind, auto&& change) { changed(kind, rank, [&](Program& p) { change(p.edit()[i]); }); };
  changed("drop an operation", rank, [&](Program& p) { p = without(p, i); });
  changed("repeat an operation", rank, [&](Program& p) { p = with_again(p, i); });
  if (o.kind != Kind::compute && o.range.count > 0) {
    set("shift by a chunk", [](Operation& m) { m.range.first += 1; });
    set("shift back by a chunk", [](Operation& m) { m.range.first -= 1; });
    set("one chunk less", [](Operation& m) { m.range.count -= 1; });
    set("one chunk more", [](Operation& m) { m.range.count += 1; });
  }
  if (o.range.segments > 1) {
    set("a train that stands", [](Operation& m) { m.range.step = 0; });
    set("one segment less", [](Operation& m) { m.range.segments -= 1; });
  }
  if (o.kind == Kind::copy) set("another source", [](Operation& m) { m.source.first += 1; });
  if (!message(o)) return;
  set("another peer", [&](Operation& m) { m.peer = (m.peer + 1) % schedule_.ranks; });
  set("another tag", [](Operation& m) { m.tag += 7; });
  if (o.kind == Kind::receive) set("add instead of receive", [](Operation& m) { m.kind = Kind::combine; });
  if (o.kind == Kind::combine) set("receive instead of add", [](Operation& m) { m.kind = Kind::receive; });
  if (o.kind != Kind::send) return;
  // The whole message twice: at both ends.
  const Programs whole = programs_;
  Program& peer = programs_[static_cast<std::size_t>(o.peer)];
  for (std::size_t j = 0; j < peer.operations().size(); ++j) {
    const Operation there = peer.operations()[j];
    if (there.peer != rank || there.tag != o.tag || (there.kind != Kind::receive && there.kind != Kind::combine)) continue;
    if (there.range.count != o.range.count || there.range.segments != o.range.segments) continue;
    peer = with_again(peer, j);
    changed("repeat a message", rank, [&](Program& p) { p = with_again(p, i); });
    break;
  }
  programs_ = whole;
}

inline void Mutations::dependencies(Rank rank, std::size_t i) {
  const Operation o = programs_[static_cast<std::size_t>(rank)].operations()[i];
  for (std::uint32_t d = 0; d < o.dependencies; ++d) {
    changed("drop a dependency", rank, [&](Program& p) {
      p.edit_dependencies()[o.dependency + d] = p.edit_dependencies()[o.dependency + o.dependencies - 1];
      p.edit()[i].dependencies -= 1;
    });
    changed("wait for the start only", rank, [&](Program& p) { p.edit_dependencies()[o.dependency + d].started = true; });
  }
  if (i == 0) return;
  changed("wait for what precedes", rank, [&](Program& p) { wait_for_previous(p, i); });
}

inline void Mutations::pairs(Rank rank, std::size_t i) {
  const auto now = programs_[static_cast<std::size_t>(rank)].operations();
  const std::vector<Operation> all(now.begin(), now.end());
  for (std::size_t j = i + 1; j < all.size(); ++j) {
    if (all[i].kind != all[j].kind || !message(all[i])) continue;
    changed("swap two peers", rank, [&](Program& p) { std::swap(p.edit()[i].peer, p.edit()[j].peer); });
    changed("swap what two messages carry", rank, [&](Program& p) { std::swap(p.edit()[i].range, p.edit()[j].range); });
    break;
  }
}

inline void Mutations::changed(const char* kind, Rank rank, const std::function<void(Program&)>& change) {
  Program& mine = programs_[static_cast<std::size_t>(rank)];
  const Program before = mine;
  change(mine);
  judge(kind, schedule_, programs_);
  mine = before;
}

inline void Mutations::judge(const char* kind, const Schedule& schedule, const Programs& programs) {
  Schedule mutant = schedule;
  mutant.rounds = {};  // written by hand, and not mutated
  mutant.program = [&](Rank rank, Program& out) { out = programs[static_cast<std::size_t>(rank)]; };
  const fl::collectives::Verdict v = fl::collectives::check(mutant);
  Tally& tally = tallies_[kind];
  ++tally.all;
  const bool barrier = schedule.collective == fl::collectives::Collective::barrier;
  const bool invalid = v.operations == 0 || (!v.race_free && !v.deadlock_free && v.depth == 0);
  ++(v ? tally.harmless : tally.caught);
  if (invalid && !v) return;  // beyond the memory of a rank, and no run may try it
  const int tried = barrier ? 4 * schedule.ranks : 4;
  int right = 0;
  for (int i = 0; i < tried; ++i) {
    Buffering buffering = v && i % 2 == 1 ? Buffering::some : Buffering::none;
    if (barrier) buffering = i < 2 * schedule.ranks ? Buffering::all : i % 3 == 0 ? Buffering::none : Buffering::some;
    const Rank late = barrier ? i % schedule.ranks : -1;
    right += RandomRun(schedule, programs, seed_++, buffering, late).run() == Ending::right ? 1 : 0;
  }
  if (!v.race_free) {
    ++tally.races;
    tally.races_seen += right < tried ? 1 : 0;
  }
  // A rank that leaves a barrier too early does so in some runs only, unless there is a deadlock.
  const bool agreed = v ? right == tried : !v.race_free || (barrier ? right < tried : right == 0);
  if (agreed) return;
  ++mistakes_;
  std::cout << name_ << ", " << kind << ": " << right << " of " << tried << " runs ended right, and the checker says "
            << (v.why.empty() ? "nothing is wrong" : v.why) << "\n";
}

inline int Mutations::report() const {
  std::cout << "{\"mistakes\":" << mistakes_ << ",\"mutations\":{";
  const char* comma = "";
  for (const auto& [kind, t] : tallies_) {
    std::cout << comma << "\"" << kind << "\":{\"all\":" << t.all << ",\"caught\":" << t.caught << ",\"harmless\":" << t.harmless
              << ",\"races\":" << t.races << ",\"races_seen\":" << t.races_seen << "}";
    comma = ",";
  }
  std::cout << "}}\n";
  return mistakes_ == 0 ? 0 : 1;
}
