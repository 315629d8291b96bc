// file_io: processes or threads write and read files in a target of storage.
//
// Parties are the processes, or the threads of one. Each has `count` blocks of `transfer` bytes: in a file of its own, or in one file that
// all share, one party's blocks after those of another (segmented) or interleaved (strided). A step opens the file, transfers each block once,
// and closes the file; writing ends after fsync and close, unless the operation is called cached. Before each step, outside of its time,
// reset() makes the data of the step, or empties the page cache and proves it.
//
// Each word is a function of file, offset and generation (content.hpp). Of writing, the generation is the iteration, and the check reads
// every byte back. Of reading, some blocks get a new generation between batches; a step keeps a word of every 512 bytes, at a place that
// changes with the step, and reset() and the check compare them; then the check lets a step keep every byte.
#pragma once

#include <fcntl.h>

#include <algorithm>
#include <string>
#include <vector>

#include "../content.hpp"
#include "firstlight/error_summary.hpp"
#include "firstlight/storage.hpp"
#include "firstlight/workload.hpp"

namespace file_io {

using fl::Index;
using storage::Content;
using storage::Word;

enum class Operation { write, cached_write, rewrite, random_write, sync, read, cached_read, random_read };
enum class Layout { per_process, segmented, strided };

inline constexpr Index direct_unit = 4096;  // O_DIRECT transfers multiples of it, from multiples of it

struct Params {
  fl::Storage target;
  Operation operation = Operation::write;
  Layout layout = Layout::per_process;
  Index size = Index{1} << 20, transfer = Index{1} << 16;
  void declare(fl::Fields& fields) {
    fields.storage("target", target, "name of the storage target that contains the files");
    fields.choice("operation", operation, "write|cached_write|rewrite|random_write|sync|read|cached_read|random_read",
                  "write: a new file; cached: without fsync, or from the page cache; sync: fsync after each transfer");
    fields.choice("layout", layout, "per_process|segmented|strided", "a file for each process, or one file that all share");
    fields.integer("size", size, "bytes", 8, Index{1} << 44, "total size of all files, rounded down to whole transfers of each process");
    fields.integer("transfer", transfer, "bytes", 8, Index{1} << 30, "size of one operation, a multiple of 8 bytes");
  }
};

struct Traits {
  bool threads = false;     // parties are threads
  bool direct = false;      // O_DIRECT
  bool collective = false;  // all parties transfer together
};

// What one process or thread has.
struct Party {
  Index me = 0, source = 0;         // whose blocks it writes, and whose it reads
  std::vector<Index> order;         // in which it transfers its blocks
  std::vector<Index> own, foreign;  // generations of its blocks and of those that it reads
  fl::Array<char> memory;           // image and buffer are in it
  char* image = nullptr;            // of all its blocks: what is written, or every byte that was read
  char* buffer = nullptr;           // one transfer
  std::vector<Word> seen;           // one word of every sampled() bytes that were read
  std::vector<double> latencies;    // seconds of the operations since they were last observed
  bool stepped = false;             // since reset()
};

struct State {
  Params p;
  Traits traits;
  fl::Team team;
  Index parties = 1, count = 1, samples = 1;  // of all; blocks of a party; words that are kept of a transfer
  fl::Folder folder;
  std::vector<Party> mine;    // those of this process
  Index next = 0;             // the iteration of the next step
  Index iteration = 0;        // of the last one
  Index rounds = 0;           // of checks so far
  bool every_byte = false;    // a step of reading copies all that it reads to the image
  std::int64_t begun = 0;     // the clock before the steps that are observed next
  double resident = 0;        // the largest share of a file that was in the page cache before a cold read
  bool counted = false;       // the kernel counts what the device of the target reads
  Index before = -1;          // its bytes before a cold read
  double device = 0;          // its bytes in the cold reads that are observed next
  fl::ErrorSummary mistakes;  // of the steps before the last one

  bool reads() const { return p.operation >= Operation::read; }
  bool cold() const { return p.operation == Operation::read || p.operation == Operation::random_read; }
  bool at_random() const { return p.operation == Operation::random_write || p.operation == Operation::random_read; }
  bool fresh() const { return p.operation == Operation::write || p.operation == Operation::cached_write; }  // writes a new file
  bool syncs_at_end() const { return !reads() && p.operation != Operation::cached_write && p.operation != Operation::sync; }

  Index file_number(Index party) const { return p.layout == Layout::per_process ? party : 0; }
  std::string file_name(Index party) const { return "data." + std::to_string(file_number(party)); }
  Index file_bytes() const { return (p.layout == Layout::per_process ? 1 : parties) * count * p.transfer; }
  Index offset(Index party, Index block) const {
    if (p.layout == Layout::per_process) return block * p.transfer;
    return (p.layout == Layout::segmented ? party * count + block : block * parties + party) * p.transfer;
  }
  // Bytes of which a step of reading keeps one word: the unit of a device, or a page of the page cache. A read from the cache is as fast
  // as memory: there, one word of every 512 bytes would add 8 to 20 % to its time.
  Index sampled() const { return p.operation == Operation::cached_read ? 4096 : 512; }
  // Where in sample k of a transfer the word is that step `i` keeps.
  Index sample_at(Index k, Index i) const {
    const auto place = static_cast<Index>(fl::hash(static_cast<Word>(i)) % (sampled() / 8));
    return std::min(k * sampled() + 8 * place, p.transfer - 8);
  }
};

inline constexpr fl::Phases phases{"transfer", "sync"};
inline constexpr fl::About about{
    .title = "Reading and writing files",
    .cost = "The bytes that all processes transfer; an operation is one transfer",
    .verified =
        "Every byte, compared with a hash of file, offset and iteration. Written data are read back. From read data, each step keeps "
        "one word of every 512 bytes (of every 4096 from the page cache), and one step keeps all. The size of the files. After fsync no "
        "page may wait to be written (cachestat). Before a cold read, less than 1 % of the file may be in the page cache (mincore).",
    .tolerance = "Exact",
    .phases = phases,
};

inline constexpr fl::Metric metrics[] = {
    {"bandwidth", "GB/s", "bytes", "rate", 1e-9, "higher"},
    {"operation_rate", "1/s", "operations", "rate", 1, "higher"},
    {"latency_median", "us", "latency_median", "value", 1, "lower"},
    {"latency_p99", "us", "latency_p99", "value", 1, "lower"},
    {"sync_time", "us", "operations", "time", 1e6, "lower", phases("sync")},
};

inline Index parties_of(const fl::Team& team, const Traits& traits) {
  return static_cast<Index>(team.ranks) * (traits.threads ? team.threads : 1);
}

inline Index count_of(const Params& p, Index parties) { return p.size / p.transfer / parties; }

std::string refuse(const Params& p, const fl::Team& team, const Traits& traits);
void init(State& s, const Params& p, const fl::Team& team, const Traits& traits);
void reset(State& s);
fl::Check check(State& s, Index last);
void observe(State& s, fl::Observations& seen);
Index mutate_between_batches(State& s, Index next);

inline fl::Cost cost(const Params& p, const fl::Team& team, const Traits& traits) {
  const Index parties = parties_of(team, traits), count = count_of(p, parties);
  const auto bytes = static_cast<double>(parties * count * p.transfer), blocks = static_cast<double>(parties * count);
  const double synced = p.operation == Operation::sync                                             ? static_cast<double>(count)
                        : p.operation >= Operation::read || p.operation == Operation::cached_write ? 0
                                                                                                   : 1;
  return {.bytes = bytes,
          .operations = blocks,
          .working_set = bytes / team.ranks + static_cast<double>(p.transfer) * (traits.threads ? team.threads : 1),
          .phases = {{phases("sync"), &fl::Cost::operations, synced}}};
}

inline void mutate_inputs(State& s, Index iteration) { s.iteration = iteration; }

inline void poison(State& s) {
  for (Party& party : s.mine) {
    std::fill(party.seen.begin(), party.seen.end(), fl::poison_bits);
    party.stepped = false;
  }
}

}  // namespace file_io

#include "judge.hpp"
