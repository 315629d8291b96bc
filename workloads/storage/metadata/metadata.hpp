// metadata: processes or threads create many small files and then look at them, open, list, rename and remove them, phase by phase (mdtest).
//
// Each party has `files` files of `bytes` bytes, in a directory of its own or in one for all. A step has all phases, with a barrier after
// each. Names, sizes and contents follow the iteration. With several parties, stat and open are of the files of another one.
//
// The timed code keeps what it saw: the sums of the sizes that stat returned, of the words that it read, of hashes of the names that readdir
// returned. The check compares them. Then it lets a step stop after each phase and looks at the directories itself: names, sizes and
// contents are exact, and nothing is left at the end.
#pragma once

#include <cstdlib>
#include <string>
#include <vector>

#include "../content.hpp"
#include "firstlight/error_summary.hpp"
#include "firstlight/storage.hpp"
#include "firstlight/workload.hpp"

namespace metadata {

using fl::Index;
using storage::Content;
using storage::Word;

enum class Layout { directory_per_process, one_directory };
enum Stage { create, stat, open, readdir, rename, unlink, stages };

struct Params {
  fl::Storage target;
  Layout layout = Layout::directory_per_process;
  Index files = 16, bytes = 0;
  void declare(fl::Fields& fields) {
    fields.storage("target", target, "name of the storage target that contains the files");
    fields.choice("layout", layout, "directory_per_process|one_directory", "location of a process's files");
    fields.integer("files", files, "files", 1, 1 << 20, "files of each process or thread");
    fields.integer("bytes", bytes, "bytes", 0, 1 << 20, "size of each file; mdtest's hard case has 3901");
  }
};

struct Traits {
  bool threads = false;  // parties are threads
};

// What one process or thread has, and what it saw in a step.
struct Party {
  Index me = 0, other = 0;                         // the files that it makes, and those that it looks at
  std::vector<std::string> own, foreign, renamed;  // names in this step
  std::vector<char> contents;                      // of its files, one after the other
  std::vector<char> buffer;                        // of one file
  Index sizes = 0;                                 // sum of what stat returned
  Word words = 0;                                  // sum of what was read, without the bytes behind the last whole word
  Word names = 0;                                  // sum of hashes of what readdir returned
  Index entries = 0;                               // how many that were
  Index refused = 0;                               // calls that failed because a file was or was not there
};

struct State {
  Params p;
  fl::Team team;
  Index parties = 1;
  fl::Folder folder;
  std::vector<Party> mine;
  Index next = 0, iteration = 0;
  int first = create, last = unlink;  // the phases of a step: all of them, but for steps of the check
  fl::ErrorSummary mistakes;          // of the steps before the last one
  bool stepped = false;               // since reset()

  Index whole() const { return (p.bytes + 7) / 8 * 8; }
  Index number(Index party, Index k) const { return party * p.files + k; }
  std::string directory(Index party) const { return p.layout == Layout::one_directory ? "all" : "of." + std::to_string(party); }
  std::string file(Index party, Index k, Index step) const {
    return directory(party) + "/" + std::to_string(number(party, k)) + "." + std::to_string(step);
  }
  Index listed() const { return (p.layout == Layout::one_directory ? parties : 1) * p.files; }  // entries that a party lists
};

inline constexpr fl::Phases phases{"create", "stat", "open", "readdir", "rename", "unlink"};
inline constexpr fl::About about{
    .title = "Creating and removing files",
    .cost = "An operation is one file in one phase; readdir counts the entries.",
    .verified =
        "Sizes, contents and names that each phase saw. In steps of the check, after each phase: the set of names, every size and "
        "every byte. At the end no file may be left.",
    .tolerance = "Exact",
    .phases = phases,
};

inline constexpr fl::Metric metrics[] = {
    {"operation_rate", "1/s", "operations", "rate", 1, "higher"},
    {"create_rate", "1/s", "operations", "rate", 1, "higher", phases("create")},
    {"stat_rate", "1/s", "operations", "rate", 1, "higher", phases("stat")},
    {"open_rate", "1/s", "operations", "rate", 1, "higher", phases("open")},
    {"readdir_rate", "1/s", "operations", "rate", 1, "higher", phases("readdir")},
    {"rename_rate", "1/s", "operations", "rate", 1, "higher", phases("rename")},
    {"unlink_rate", "1/s", "operations", "rate", 1, "higher", phases("unlink")},
};

inline Index parties_of(const fl::Team& team, const Traits& traits) {
  return static_cast<Index>(team.ranks) * (traits.threads ? team.threads : 1);
}

std::string refuse(const Params& p, const fl::Team& team, const Traits& traits);
void init(State& s, const Params& p, const fl::Team& team, const Traits& traits);
void reset(State& s);
fl::Check check(State& s, Index last);
Index mutate_between_batches(State& s, Index next);

inline fl::Cost cost(const Params& p, const fl::Team& team, const Traits& traits) {
  const Index parties = parties_of(team, traits);
  const auto files = static_cast<double>(parties * p.files);
  const double entries = files * (p.layout == Layout::one_directory ? static_cast<double>(parties) : 1);
  return {.operations = 5 * files + entries,
          .working_set = static_cast<double>(p.files * (traits.threads ? team.threads : 1)) * (300 + static_cast<double>(p.bytes)),
          .phases = {{phases("create"), &fl::Cost::operations, files},
                     {phases("stat"), &fl::Cost::operations, files},
                     {phases("open"), &fl::Cost::operations, files},
                     {phases("readdir"), &fl::Cost::operations, entries},
                     {phases("rename"), &fl::Cost::operations, files},
                     {phases("unlink"), &fl::Cost::operations, files}}};
}

inline void mutate_inputs(State& s, Index iteration) { s.iteration = iteration; }

inline void poison(State& s) {
  for (Party& party : s.mine) party.sizes = party.entries = -1, party.words = party.names = fl::poison_bits;
  s.stepped = false;
}

// The number of a file and the step of its name, "17.4", as one word; names of other forms are 0.
inline Word digest(const char* name) {
  char* rest = nullptr;
  const Word number = std::strtoull(name, &rest, 10);
  if (*rest != '.') return 0;
  return fl::hash(fl::hash(number) + std::strtoull(rest + 1, nullptr, 10));
}

}  // namespace metadata

#include "judge.hpp"
