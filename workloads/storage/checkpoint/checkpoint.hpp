// checkpoint: the time to save the state of a run and to restart from it. The state is a field of n^3 cells of 8 bytes, divided among
// the ranks. A step saves it, waits until it is durable, and restores it into new memory; each of these is timed on its own.
//
// A cell is a hash of its place and of the generation in which its run of 64 KiB changed last: incompressible, and never the same twice.
#pragma once

#include <cstring>

#include "firstlight/checkpoint/disk.hpp"
#include "firstlight/error_summary.hpp"
#include "firstlight/grid/grid.hpp"
#include "firstlight/storage.hpp"
#include "firstlight/workload.hpp"

namespace checkpoint {

namespace grid = fl::grid;
using fl::Index;

struct Params {
  Index n = 64, changed = 100;
  fl::Storage target;
  void declare(fl::Fields& fields) {
    fields.storage("target", target, "where the state is saved");
    fields.integer("n", n, "cells", 8, 4096, "cells along an edge of the field");
    fields.integer("changed", changed, "%", 1, 100, "share of the field that changes between two checkpoints");
  }
  grid::Domain<3> domain() const { return {.extents = {n, n, n}, .halo = {1, 1, 1}}; }
};

struct Traits {
  int copies = 1;             // of the state, at most, that a generation keeps
  bool asynchronous = false;  // the program computes while it saves
  bool needs_ranks = false;   // two at least: one loses its files
  bool one_file = false;      // of all ranks, whose name rank 0 brings to the disk
};

struct State {
  Params p;
  fl::Team team;
  Traits traits;
  grid::Block<3> block;
  grid::Field<double, 3> field, restored;
  std::vector<Index> since;  // the generation in which each run of the whole field changed last
  Index generation = -1;     // the newest one
  Index iteration = 0;
  fl::Array<double> work;  // of the computation
  fl::Folder folder;

  // What the variant did in the last step,
  Index restored_generation = -1;
  fl::checkpoints::Journal journal;
  std::string failure;  // why it could not restore
  // and in all steps since the last observation, in seconds and bytes.
  double durable = 0, bytes = 0, resident = 0, computed = 0, computed_alone = 0;
};

inline constexpr fl::Phases phases{"held", "compute", "finish", "alone", "restart"};
inline constexpr fl::About about{
    .title = "Checkpoint and restart",
    .cost = "8 n^3 bytes are saved and restored once per step",
    .verified =
        "Every cell that was restored into new memory, bit by bit, and its generation. Each written file and its folder must have "
        "reached the disk.",
    .tolerance = "Exact",
    .phases = phases,
};
inline constexpr fl::Metric metrics[] = {
    {"held_time", "ms", "operations", "time", 1e3, "lower", phases("held")},
    {"restart_time", "ms", "operations", "time", 1e3, "lower", phases("restart")},
    {"durable_time", "ms", "durable_time", "value", 1e3, "lower"},
    {"slow_down", "%", "slow_down", "value", 100, "lower"},
    {"written", "B", "written", "value", 1, "lower"},
    {"resident", "%", "resident", "value", 100, "lower"},
};

inline std::string refuse(const Params& p, const fl::Team& team, const Traits& traits) {
  if (traits.needs_ranks && team.ranks < 2) return "this variant of checkpoint needs 2 ranks, because one of them loses its files";
  if (traits.needs_ranks && team.ranks % team.nodes != 0)
    return fl::text("this variant of checkpoint needs as many ranks on each node; %d ranks are on %d nodes", team.ranks, team.nodes);
  if (std::string why = grid::refuse(p.domain(), team.ranks); !why.empty()) return why;
  const double bytes = 8 * static_cast<double>(p.n * p.n * p.n), generations = 3;  // two are complete while the next one is written
  return fl::lacks_storage(p.target, generations * traits.copies * bytes, generations * (2 + traits.copies) * team.ranks);
}

inline fl::Cost cost(const Params& p, const fl::Team& team, const Traits&) {
  const double bytes = 8 * static_cast<double>(p.n * p.n * p.n);
  return {.operations = 2,
          .elements = bytes / 8,
          .working_set = 5 * bytes / team.ranks,
          .phases = {{phases("held"), &fl::Cost::operations, 1}, {phases("restart"), &fl::Cost::operations, 1}}};
}

// --- the state ---------------------------------------------------------------------------------------------------------

inline constexpr Index run = 8192;  // cells that change together, side by side in the whole field

inline double value(std::uint64_t number, Index since) {
  return fl::uniform(number ^ fl::hash(static_cast<std::uint64_t>(since) ^ fl::seed()));
}

inline bool changes(const State& s, Index part, Index generation) {
  const std::uint64_t drawn = fl::hash(static_cast<std::uint64_t>(part) ^ fl::hash(static_cast<std::uint64_t>(generation)));
  return generation == 0 || static_cast<Index>(drawn % 100) < s.p.changed;
}

inline void init(State& s, const Params& p, const fl::Team& team, const Traits& traits) {
  s.p = p, s.team = team, s.traits = traits, s.folder = fl::Folder(p.target);
  s.block = grid::Block<3>(p.domain(), team.ranks, team.rank);
  for (auto* field : {&s.field, &s.restored}) *field = grid::Field<double, 3>(s.block.size(), p.domain().halo);
  s.since.assign(static_cast<std::size_t>((p.n * p.n * p.n + run - 1) / run), 0);
  if (traits.asynchronous) s.work = fl::Array<double>(std::max<Index>(s.block.cells().cells(), run));
  fl::first_touch(&s);
  fl::poison(s.field.data(), s.field.layout().elements);
  for (double& x : s.work) x = 1;
}

// The next generation of the state.
inline void reset(State& s) {
  s.generation += 1;
  for (Index part = 0; part < static_cast<Index>(s.since.size()); ++part)
    if (changes(s, part, s.generation)) s.since[static_cast<std::size_t>(part)] = s.generation;
  grid::each_cell(s.block.cells(), [&](const grid::Point<3>& cell) {
    const std::uint64_t number = s.block.number(s.block.global(cell));
    const Index since = s.since[number / run];
    if (since == s.generation || cell == grid::Point<3>{}) s.field[cell] = value(number, since);
  });
}
// The first cell of each block follows the iteration.
inline double first_cell(Index iteration) { return fl::uniform(~static_cast<std::uint64_t>(iteration)); }
inline void mutate_inputs(State& s, Index iteration) { s.iteration = iteration, s.field[{0, 0, 0}] = first_cell(iteration); }

inline void poison(State& s) {
  fl::poison(s.restored.data(), s.restored.layout().elements);
  s.restored_generation = -1, s.journal = {}, s.failure.clear();
}

inline fl::Check check(State& s, Index last) {
  fl::ErrorSummary wrong;
  if (!s.failure.empty()) wrong.add([&] { return s.failure; });
  if (s.restored_generation != s.generation)
    wrong.add([&] { return fl::text("generation %lld was restored, should be %lld", s.restored_generation, s.generation); });
  const bool names = !s.traits.one_file || s.team.rank == 0;
  if (s.journal.files == 0 || s.journal.synced != s.journal.files || (names && s.journal.folders == 0))
    wrong.add([&] {
      return fl::text("rank %d wrote %lld files and brought %lld of them and %lld folders to the disk", s.team.rank, s.journal.files,
                      s.journal.synced, s.journal.folders);
    });
  grid::each_cell(s.block.cells(), [&](const grid::Point<3>& cell) {
    const std::uint64_t number = s.block.number(s.block.global(cell));
    const double expected = cell == grid::Point<3>{} ? first_cell(last) : value(number, s.since[number / run]);
    const double found = s.restored[cell];
    if (std::memcmp(&expected, &found, sizeof found) != 0)
      wrong.add(
          [&] { return fl::text("cell (%s) is %.17g, should be %.17g", grid::words<3>(s.block.global(cell)).c_str(), found, expected); });
  });
  return wrong.check("every cell was restored");
}

inline void observe(State& s, fl::Observations& seen) {
  const auto steps = static_cast<double>(seen.steps);
  fl::add_up(&s.bytes, 1);
  seen.value("durable_time", s.durable / steps);
  seen.value("written", s.bytes / steps);
  seen.value("resident", s.resident / steps);
  if (s.traits.asynchronous) seen.value("slow_down", s.computed_alone > 0 ? std::max(0.0, s.computed / s.computed_alone - 1) : 0.0);
  s.durable = s.bytes = s.resident = s.computed = s.computed_alone = 0;
}

}  // namespace checkpoint
