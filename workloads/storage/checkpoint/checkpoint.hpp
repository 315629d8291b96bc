// checkpoint: the time to save the state of a run and to restart from it. The state is a field of n^3 cells of 8 bytes, divided among
// the ranks. A step saves it, waits until it is durable, and restores it into new memory; each of these is timed on its own.
//
// A cell is a hash of its place and of the generation in which its run of 64 KiB changed last: incompressible, and never the same twice.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

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
    fields.storage("target", target, "storage target of the saved state");
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
  bool changes_only = false;  // writes only the blocks that differ from those of the generation before the last one
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
  fl::Array<double> work;  // of the computation: each sweep adds 1 to every element
  Index sweeps = 0;        // in all steps, while the state was written; as many follow when it is durable
  fl::Folder folder;

  // What the variant did in the last step.
  struct Record {
    Index restored_generation = -1;
    fl::checkpoints::Journal journal;
    std::string failure;    // why it could not restore
    double resident = -1;   // share of the files that was in the page cache before the restart
    bool computed = false;  // until the state was written
  } record;

  bool settled = true;             // the last step is in the sums
  double bytes = 0, resident = 0;  // of all steps since the last observation
};

inline constexpr fl::Phases phases{"held", "compute", "finish", "alone", "restart"};
inline constexpr fl::About about{
    .title = "Checkpoint and restart",
    .cost = "8 n^3 bytes are saved and restored once per step",
    .verified =
        "Every cell that was restored into new memory, bit by bit, and its generation. Each rank must write exactly the blocks that "
        "changed. Each written file and its folder must have reached the disk. With copies or parity, one rank must have lost its folder.",
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
  if (traits.needs_ranks && team.ranks < 2) return "this variant of checkpoint needs 2 ranks, because one rank loses its files";
  if (traits.needs_ranks && team.ranks % team.nodes != 0)
    return fl::text("this variant of checkpoint needs the same number of ranks on each node; %d ranks are on %d nodes", team.ranks,
                    team.nodes);
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

// --- before a step ---------------------------------------------------------------------------------------------------------

inline void init(State& s, const Params& p, const fl::Team& team, const Traits& traits) {
  s.p = p, s.team = team, s.traits = traits, s.folder = fl::Folder(p.target);
  s.block = grid::Block<3>(p.domain(), team.ranks, team.rank);
  for (auto* field : {&s.field, &s.restored}) *field = grid::Field<double, 3>(s.block.size(), p.domain().halo);
  s.since.assign(static_cast<std::size_t>((p.n * p.n * p.n + run - 1) / run), 0);
  if (traits.asynchronous) s.work = fl::Array<double>(std::max<Index>(s.block.cells().cells(), run));
  fl::first_touch(&s);
  fl::poison(s.field.data(), s.field.layout().elements);
  for (double& x : s.work) x = 0;
}

// Adds the last step to the sums.
inline void settle(State& s) {
  if (!std::exchange(s.settled, true)) s.bytes += static_cast<double>(s.record.journal.bytes), s.resident += s.record.resident;
}

// The next generation of the state.
inline void reset(State& s) {
  settle(s);
  s.settled = false, s.record = {};
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
  s.record = {};
}

// --- the check -------------------------------------------------------------------------------------------------------------

// Returns how many bytes of its own cells a rank must write: whole blocks of 64 KiB.
inline Index bytes_to_write(const State& s) {
  const Index cells = s.block.cells().cells();
  if (!s.traits.changes_only || s.generation < 2) return 8 * cells;
  std::vector<bool> changed(static_cast<std::size_t>((cells + run - 1) / run));
  Index place = 0;
  grid::each_cell(s.block.cells(), [&](const grid::Point<3>& cell) {
    const Index since = s.since[s.block.number(s.block.global(cell)) / run];
    if (since >= s.generation - 1 || place == 0) changed[static_cast<std::size_t>(place / run)] = true;
    ++place;
  });
  Index bytes = 0;
  for (Index k = 0; k < static_cast<Index>(changed.size()); ++k)
    if (changed[static_cast<std::size_t>(k)]) bytes += 8 * std::min(run, cells - k * run);
  return bytes;
}

inline void inspect_writes(const State& s, fl::ErrorSummary& wrong) {
  const fl::checkpoints::Journal& journal = s.record.journal;
  const bool names = !s.traits.one_file || s.team.rank == 0;
  if (journal.files == 0 || journal.synced != journal.files || (names && journal.folders == 0))
    wrong.add([&] {
      return fl::text("rank %d wrote %lld files, and only %lld files and %lld folders reached the disk", s.team.rank, journal.files,
                      journal.synced, journal.folders);
    });
  const Index own = 8 * s.block.cells().cells(), least = bytes_to_write(s), sums = own / (8 * run) * 8 + 64 * s.team.ranks + 256;
  if (journal.bytes < least || (s.traits.copies == 1 && journal.bytes > least + sums))
    wrong.add([&] {
      return fl::text("rank %d wrote %lld bytes, should write %lld bytes of cells and at most %lld bytes of checksums", s.team.rank,
                      journal.bytes, least, sums);
    });
}

// One rank loses its folder before each restart.
inline void inspect_loss(const State& s, fl::ErrorSummary& wrong) {
  if (!s.traits.needs_ranks) return;
  double lost = access(s.folder.path("state/" + std::to_string(s.team.rank)).c_str(), F_OK) != 0;
  fl::add_up(&lost, 1);
  if (lost != 1) wrong.add([&] { return fl::text("%g ranks lost their files before the restart, should be 1", lost); });
}

inline void inspect_computing(const State& s, fl::ErrorSummary& wrong) {
  if (s.traits.asynchronous && !s.record.computed) wrong.add([] { return std::string("computing ended before the state was written"); });
  if (!s.traits.asynchronous && s.sweeps > 0)
    wrong.add([] { return std::string("the variant computes, but is not declared asynchronous"); });
  for (Index k = 0; k < s.work.size(); ++k)
    if (s.work[k] != 2 * static_cast<double>(s.sweeps))
      wrong.add([&] {
        return fl::text("element %lld was computed %g times, should be %lld times while saving and the same number of times alone", k,
                        s.work[k], s.sweeps);
      });
}

inline fl::Check check(State& s, Index last) {
  fl::ErrorSummary wrong;
  if (!s.record.failure.empty()) wrong.add([&] { return s.record.failure; });
  if (s.record.restored_generation != s.generation)
    wrong.add([&] { return fl::text("generation %lld was restored, should be %lld", s.record.restored_generation, s.generation); });
  inspect_writes(s, wrong);
  inspect_loss(s, wrong);
  inspect_computing(s, wrong);
  if (!(s.record.resident >= 0 && s.record.resident <= 1))
    wrong.add([] { return std::string("the files were not dropped from the page cache before the restart"); });
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
  settle(s);
  const auto steps = static_cast<double>(seen.steps);
  fl::add_up(&s.bytes, 1);
  seen.value("durable_time", seen.seconds(phases("held")) + seen.seconds(phases("compute")) + seen.seconds(phases("finish")));
  seen.value("written", s.bytes / steps);
  seen.value("resident", s.resident / steps);
  if (s.traits.asynchronous) {
    const double alone = seen.seconds(phases("alone"));
    seen.value("slow_down", alone > 0 ? std::max(0.0, seen.seconds(phases("compute")) / alone - 1) : 0.0);
  }
  s.bytes = s.resident = 0;
}

}  // namespace checkpoint
