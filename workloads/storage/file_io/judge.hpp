// The other half of file_io.hpp: the files before a step, the proof that they are not in the page cache, and the check.
#pragma once

#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <numeric>

#include "file_io.hpp"

namespace file_io {

inline constexpr double most_resident = 0.01;  // of a file, before a cold read
inline constexpr Index most_renewed = 8;       // blocks of a party that get a new generation between batches
inline constexpr std::size_t most_latencies = std::size_t{1} << 20;

// --- what cannot run ----------------------------------------------------------------------------------------------------

// Whether the folder is in a file system that keeps its files in memory: there they have no other place.
inline bool in_memory(const fl::Storage& target) {
  struct statfs facts;
  if (target.folder.empty() && target.name != fl::Storage().name) return false;
  const std::string place = target.folder.substr(0, target.folder.find_last_of('/'));
  if (statfs(place.empty() ? "/tmp" : place.c_str(), &facts) != 0) return false;
  return facts.f_type == TMPFS_MAGIC || facts.f_type == RAMFS_MAGIC;
}

inline std::string refuse(const Params& p, const fl::Team& team, const Traits& traits) {
  const Index parties = parties_of(team, traits), count = count_of(p, parties);
  if (p.transfer % 8 != 0) return fl::text("file_io needs whole words: transfer must be a multiple of 8, not %lld", p.transfer);
  if (count < 1)
    return fl::text("file_io needs a transfer of %lld bytes for each of %lld processes or threads; size=%lld is less", p.transfer, parties,
                    p.size);
  if (traits.direct && p.transfer % direct_unit != 0)
    return fl::text("O_DIRECT needs transfers of whole blocks of %lld bytes; transfer=%lld given", direct_unit, p.transfer);
  const bool cold = p.operation == Operation::read || p.operation == Operation::random_read;
  if (traits.direct && (p.operation == Operation::cached_read || p.operation == Operation::cached_write))
    return "O_DIRECT bypasses the page cache; choose an operation that does not use the page cache";
  const bool memory = (cold || traits.direct) && in_memory(p.target);
  if (memory && traits.direct)
    return fl::text("O_DIRECT needs a file system with a device; target %s keeps files in memory", p.target.name.c_str());
  if (memory)
    return fl::text("a cold read needs an empty page cache, which could not be emptied: target %s keeps files in memory",
                    p.target.name.c_str());
  const double files = p.layout == Layout::per_process ? static_cast<double>(parties) : 1;
  return fl::lacks_storage(p.target, static_cast<double>(parties * count * p.transfer), files + 2);
}

// --- files ----------------------------------------------------------------------------------------------------------------

class Open {
 public:
  Open(const State& s, Index party, int flags) : s_(s), number_(s.folder.open(s.file_name(party), flags)) {
    if (number_ < 0) fl::storage_failed(s.p.target, "open");
  }
  ~Open() { close(number_); }
  Open(const Open&) = delete;
  Open& operator=(const Open&) = delete;
  int number() const { return number_; }

  void write(const char* from, Index bytes, Index offset) const {
    while (bytes > 0) {
      const ssize_t done = pwrite(number_, from, static_cast<std::size_t>(bytes), offset);
      if (done < 0 && errno == EINTR) continue;
      if (done <= 0) fl::storage_failed(s_.p.target, "write");
      from += done, offset += done, bytes -= done;
    }
  }
  // Returns how many bytes there were up to the end of the file.
  Index read(char* to, Index bytes, Index offset) const {
    Index there = 0;
    while (there < bytes) {
      const ssize_t done = pread(number_, to + there, static_cast<std::size_t>(bytes - there), offset + there);
      if (done < 0 && errno == EINTR) continue;
      if (done < 0) fl::storage_failed(s_.p.target, "read");
      if (done == 0) break;
      there += done;
    }
    return there;
  }
  Index size() const {
    struct stat facts;
    if (fstat(number_, &facts) != 0) fl::storage_failed(s_.p.target, "stat");
    return facts.st_size;
  }
  void sync() const {
    if (fsync(number_) != 0) fl::storage_failed(s_.p.target, "fsync");
  }

 private:
  const State& s_;
  int number_;
};

inline Content content(const State& s, Index party, Index generation) { return {s.file_number(party), generation}; }

// Writes blocks of a party with the generations that it has on record.
inline void write_blocks(State& s, Party& party, const std::vector<Index>& blocks) {
  const Open file(s, party.me, O_WRONLY | O_CREAT);
  for (const Index b : blocks) {
    const Index at = s.offset(party.me, b);
    content(s, party.me, party.own[static_cast<std::size_t>(b)]).fill(party.buffer, s.p.transfer, at);
    file.write(party.buffer, s.p.transfer, at);
  }
  file.sync();
}

// Returns the bytes that the device of the target has read for all programs, by /proc/diskstats; -1 without a device, as on NFS, on an
// overlay and in memory.
inline Index device_bytes(const State& s) {
  struct stat facts;
  if (fstat(s.folder.descriptor(), &facts) != 0) fl::storage_failed(s.p.target, "stat");
  std::ifstream lines("/proc/diskstats");
  unsigned major = 0, minor = 0;
  std::string name;
  Index reads = 0, merged = 0, sectors = 0;
  while (lines >> major >> minor >> name >> reads >> merged >> sectors) {
    if (makedev(major, minor) == facts.st_dev) return 512 * sectors;
    std::getline(lines, name);
  }
  return -1;
}

inline std::vector<Index> all_blocks(const State& s) {
  std::vector<Index> blocks(static_cast<std::size_t>(s.count));
  std::iota(blocks.begin(), blocks.end(), 0);
  return blocks;
}

inline void init(State& s, const Params& p, const fl::Team& team, const Traits& traits) {
  s.p = p, s.team = team, s.traits = traits;
  s.parties = parties_of(team, traits), s.count = count_of(p, s.parties);
  s.samples = (p.transfer + s.sampled() - 1) / s.sampled();
  s.folder = fl::Folder(p.target);
  const Index here = s.parties / team.ranks, node = s.parties / team.nodes;
  s.mine = std::vector<Party>(static_cast<std::size_t>(here));
  for (Index k = 0; k < here; ++k) {
    Party& party = s.mine[static_cast<std::size_t>(k)];
    party.me = team.rank * here + k;
    party.source = team.nodes > 1 ? (party.me + node) % s.parties : party.me;  // never a writer of this node
    party.order = all_blocks(s);
    party.own = party.foreign = std::vector<Index>(static_cast<std::size_t>(s.count), -1);
    const Index image = (s.count * p.transfer + direct_unit - 1) / direct_unit * direct_unit;
    party.memory = fl::Array<char>(image + p.transfer + direct_unit);
    party.image = party.memory.data() + (direct_unit - static_cast<Index>(reinterpret_cast<std::uintptr_t>(party.memory.data()) %
                                                                          static_cast<std::uintptr_t>(direct_unit)));
    party.buffer = party.image + image;
    if (s.reads()) party.seen = std::vector<Word>(static_cast<std::size_t>(s.count * s.samples));
    party.latencies.reserve(std::min(most_latencies, static_cast<std::size_t>(16 * s.count)));
    if (!s.fresh()) write_blocks(s, party, party.order);
  }
  double uncounted = s.cold() && device_bytes(s) >= 0 ? 0 : 1;
  fl::add_up(&uncounted, 1);
  s.counted = uncounted == 0;
}

// --- the page cache -------------------------------------------------------------------------------------------------------

// Returns the share of a file that is in the page cache.
inline double resident(const State& s, const Open& file, Index bytes) {
  const auto page = static_cast<Index>(sysconf(_SC_PAGESIZE));
  void* map = mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ, MAP_SHARED, file.number(), 0);
  if (map == MAP_FAILED) fl::storage_failed(s.p.target, "mmap");
  std::vector<unsigned char> pages(static_cast<std::size_t>((bytes + page - 1) / page));
  const int failed = mincore(map, static_cast<std::size_t>(bytes), pages.data());
  munmap(map, static_cast<std::size_t>(bytes));
  if (failed != 0) fl::storage_failed(s.p.target, "mincore");
  const auto there = std::count_if(pages.begin(), pages.end(), [](unsigned char one) { return (one & 1) != 0; });
  return static_cast<double>(there) / static_cast<double>(pages.size());
}

// Empties the page cache of the file that a party reads, and proves it. O_DIRECT does not read from the cache.
inline void make_cold(State& s, const Party& party) {
  const Open file(s, party.source, O_RDONLY);
  double share = 1;
  for (int tries = 0; tries < 5 && share >= most_resident; ++tries) {
    file.sync();
    if (const int failed = posix_fadvise(file.number(), 0, 0, POSIX_FADV_DONTNEED); failed != 0) {
      errno = failed;
      fl::storage_failed(s.p.target, "fadvise");
    }
    share = resident(s, file, s.file_bytes());
  }
  s.resident = std::max(s.resident, share);
  if (share >= most_resident && !s.traits.direct)
    fl::abort_all(
        fl::text("target %s: the page cache could not be emptied: %.0f %% of a file remain in it; the variants with O_DIRECT do "
                 "not use it",
                 s.p.target.name.c_str(), 100 * share));
}

// Adds what the device read in the last step. Other ranks of this node have ended it, too.
inline void count_device(State& s) {
  if (s.counted && s.before >= 0) s.device += static_cast<double>(device_bytes(s) - s.before);
  s.before = -1;
}

struct Cachestat {
  std::uint64_t cache, dirty, writeback, evicted, recently_evicted;
};

// Returns how many pages of a file wait to be written; 0 if this kernel does not report it (Linux 6.5 does).
inline Index unwritten_pages(const Open& file) {
  constexpr long cachestat = 451;
  struct {
    std::uint64_t offset, length;
  } everything{0, 0};
  Cachestat found{};
  if (syscall(cachestat, file.number(), &everything, &found, 0) != 0) return 0;
  return static_cast<Index>(found.dirty + found.writeback);
}

// --- the check ------------------------------------------------------------------------------------------------------------

inline std::string place(const State& s, Index party, Index offset) {
  return fl::text("the word at byte %lld of file %lld", offset, s.file_number(party));
}

// Compares the words that the last step of reading kept.
inline void compare_samples(const State& s, const Party& party, fl::ErrorSummary& found) {
  for (Index b = 0; b < s.count; ++b) {
    const Content is = content(s, party.source, party.foreign[static_cast<std::size_t>(b)]);
    for (Index k = 0; k < s.samples; ++k) {
      const Index at = s.offset(party.source, b) + s.sample_at(k, s.iteration);
      if (party.seen[static_cast<std::size_t>(b * s.samples + k)] != is.word(at))
        found.add([&] { return place(s, party.source, at) + " differs between write and read"; });
    }
  }
}

// Compares every byte that a step of reading copied.
inline void compare_image(const State& s, const Party& party, fl::ErrorSummary& found) {
  for (Index b = 0; b < s.count; ++b) {
    const Index at = s.offset(party.source, b);
    const Index wrong =
        content(s, party.source, party.foreign[static_cast<std::size_t>(b)]).wrong(party.image + b * s.p.transfer, s.p.transfer, at);
    if (wrong >= 0) found.add([&] { return place(s, party.source, at + wrong) + " differs between write and read"; });
  }
}

// Reads back every byte that a party wrote in this iteration, on another node if there are several.
inline void read_back(State& s, Party& party, Index iteration, fl::ErrorSummary& found) {
  if (faccessat(s.folder.descriptor(), s.file_name(party.source).c_str(), F_OK, 0) != 0)
    return found.add([&] { return fl::text("file %lld is missing", s.file_number(party.source)); });
  const Open file(s, party.source, O_RDONLY);
  if (const Index size = file.size(); size != s.file_bytes())
    found.add([&] { return fl::text("file %lld has %lld bytes instead of %lld", s.file_number(party.source), size, s.file_bytes()); });
  if (s.p.operation != Operation::cached_write)
    if (const Index pages = unwritten_pages(file); pages > 0)
      found.add([&] { return fl::text("%lld pages of file %lld are not written after fsync", pages, s.file_number(party.source)); });
  for (Index b = 0; b < s.count; ++b) {
    const Index at = s.offset(party.source, b), there = file.read(party.buffer, s.p.transfer, at);
    if (there < s.p.transfer) {
      found.add([&] { return place(s, party.source, at + there) + " is missing"; });
      continue;
    }
    const Index wrong = content(s, party.source, iteration).wrong(party.buffer, s.p.transfer, at);
    if (wrong >= 0) found.add([&] { return place(s, party.source, at + wrong) + " is not the data of this step"; });
  }
}

inline void inspect(State& s, Party& party, Index iteration, fl::ErrorSummary& found) {
  if (!party.stepped) found.add([] { return std::string("no step was executed"); });
  if (s.reads())
    compare_samples(s, party, found);
  else
    read_back(s, party, iteration, found);
}

inline fl::Check check(State& s, Index last) {
  fl::ErrorSummary found = s.mistakes;
  fl::barrier();  // every file is whole
  for (Party& party : s.mine) inspect(s, party, last, found);
  fl::barrier();
  if (s.reads()) {
    s.next = fl::beyond_timing + s.rounds++;
    reset(s);
    s.every_byte = true;
    fl::run_steps(s.next - 1, 1);
    s.every_byte = false;
    for (Party& party : s.mine) {
      inspect(s, party, s.iteration, found);
      compare_image(s, party, found);
      party.stepped = false;
    }
  }
  s.mistakes = {};
  return found.check(fl::text("%lld bytes of %lld processes or threads are exact", s.count * s.p.transfer * s.parties, s.parties));
}

// --- before a step --------------------------------------------------------------------------------------------------------

// The blocks of a party that get a new generation in this iteration.
inline std::vector<Index> renewed(const State& s, Index party, Index iteration) {
  std::vector<Index> blocks;
  for (Index k = 0; k < std::clamp<Index>(s.count / 8, 1, most_renewed); ++k) {
    const Word drawn = fl::hash(fl::seed() + fl::hash(static_cast<Word>(iteration * s.parties + party)) + static_cast<Word>(k));
    blocks.push_back(static_cast<Index>(drawn % static_cast<Word>(s.count)));
  }
  return blocks;
}

// Compares what the last step kept, before its files change.
inline void settle(State& s) {
  for (Party& party : s.mine) {
    if (s.reads() && party.stepped) compare_samples(s, party, s.mistakes);
    party.stepped = false;
  }
}

// Changes what is read. Returns the next iteration.
inline Index mutate_between_batches(State& s, Index next) {
  s.next = next;
  s.begun = fl::clock_nanoseconds();
  s.before = -1, s.device = 0;
  for (Party& party : s.mine) party.latencies.clear();  // of steps that are not observed
  if (!s.reads()) return next;
  settle(s);
  for (Party& party : s.mine) {
    const auto blocks = renewed(s, party.me, next);
    for (const Index b : blocks) party.own[static_cast<std::size_t>(b)] = next;
    for (const Index b : renewed(s, party.source, next)) party.foreign[static_cast<std::size_t>(b)] = next;
    write_blocks(s, party, blocks);
  }
  fl::barrier();
  return next;
}

inline void shuffle(const State& s, Party& party) {
  for (Index k = s.count - 1; k > 0; --k) {
    const Word drawn = fl::hash(fl::seed() ^ fl::hash(static_cast<Word>(s.next * s.count + k)));
    std::swap(party.order[static_cast<std::size_t>(k)], party.order[static_cast<std::size_t>(drawn % static_cast<Word>(k + 1))]);
  }
}

inline void reset(State& s) {
  settle(s);
  for (Party& party : s.mine) {
    if (s.at_random()) shuffle(s, party);
    if (s.reads()) {
      std::fill(party.seen.begin(), party.seen.end(), fl::poison_bits);
      std::fill_n(party.image, s.count * s.p.transfer, '\0');
    } else {
      for (Index b = 0; b < s.count; ++b)
        content(s, party.me, s.next).fill(party.image + b * s.p.transfer, s.p.transfer, s.offset(party.me, b));
    }
    const bool first = s.file_number(party.me) == party.me;  // of those that share a file
    if (s.fresh() && first) unlinkat(s.folder.descriptor(), s.file_name(party.me).c_str(), 0);
  }
  fl::barrier();
  count_device(s);
  if (s.cold())
    for (const Party& party : s.mine) make_cold(s, party);
  if (s.counted) s.before = device_bytes(s);
  ++s.next;
}

// --- what is observed -----------------------------------------------------------------------------------------------------

inline void observe(State& s, fl::Observations& seen) {
  std::vector<double> all;
  for (Party& party : s.mine) {
    all.insert(all.end(), party.latencies.begin(), party.latencies.end());
    party.latencies.clear();
  }
  const double longest = 1e-9 * static_cast<double>(fl::clock_nanoseconds() - s.begun);
  if (std::any_of(all.begin(), all.end(), [&](double x) { return !(x >= 0 && x <= longest); }))
    s.mistakes.add([] { return std::string("the time of an operation is longer than its step, or negative"); });
  const auto quantile = [&](double share) {
    if (all.empty()) return 0.0;
    const auto place = all.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(all.size() - 1));
    std::nth_element(all.begin(), place, all.end());
    return 1e6 * *place;
  };
  seen.value("latency_median", quantile(0.5));
  seen.value("latency_p99", quantile(0.99));
  if (s.counted) {
    fl::barrier();
    count_device(s);
    const Index here = s.parties / s.team.nodes * s.count * s.p.transfer;  // bytes that a step reads on this node
    seen.value("from_device", 100 * s.device / static_cast<double>(here * seen.steps));
  }
  seen.value("resident", 100 * s.resident);
  s.resident = 0;
}

}  // namespace file_io
