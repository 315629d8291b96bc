// The record of one rank as one JSON file, whole or absent: written under another name and renamed.
#include <sched.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "state.hpp"

namespace fl {
namespace {

std::uint64_t read(const std::atomic<std::uint64_t>& counter) { return counter.load(std::memory_order_relaxed); }

using u64 = unsigned long long;

void write_kinds(std::FILE* file, int phase, double second_per_tick) {
  bool first = true;
  for (int kind = 0; kind < static_cast<int>(Kind::count); ++kind) {
    std::uint64_t calls = 0, bytes = 0, ticks = 0;
    for (Thread* t = threads(); t != nullptr; t = t->next) {
      const Table* table = t->tables[phase].load(std::memory_order_acquire);
      if (table == nullptr) continue;
      calls += read(table->rows[kind].calls);
      bytes += read(table->rows[kind].bytes);
      ticks += read(table->rows[kind].ticks);
    }
    if (calls == 0 && bytes == 0 && ticks == 0) continue;
    std::fprintf(file, "%s\n  [\"%s\",%llu,%llu,%.9g]", first ? "" : ",", kind_names[kind], static_cast<u64>(calls),
                 static_cast<u64>(bytes), static_cast<double>(ticks) * second_per_tick);
    first = false;
  }
}

void write_sizes(std::FILE* file, int phase) {
  bool first = true;
  for (int place = 0; place < Sizes::places; ++place) {
    std::uint64_t messages = 0, bytes = 0;
    for (Thread* t = threads(); t != nullptr; t = t->next) {
      const Table* table = t->tables[phase].load(std::memory_order_acquire);
      if (table == nullptr) continue;
      messages += read(table->sizes.messages[place]);
      bytes += read(table->sizes.bytes[place]);
    }
    if (messages == 0) continue;
    std::fprintf(file, "%s[%d,%llu,%llu]", first ? "" : ",", place, static_cast<u64>(messages), static_cast<u64>(bytes));
    first = false;
  }
}

// The processors that this process may use, as runs of neighbours.
void write_processors(std::FILE* file) {
  constexpr int most = 8192;
  alignas(cpu_set_t) unsigned char memory[most / 8] = {};
  cpu_set_t* const set = reinterpret_cast<cpu_set_t*>(memory);
  if (sched_getaffinity(0, sizeof memory, set) != 0) return;
  int begin = -1;
  bool first = true;
  for (int cpu = 0; cpu <= most; ++cpu) {
    const bool mine = cpu < most && CPU_ISSET_S(static_cast<unsigned>(cpu), sizeof memory, set);
    if (mine && begin < 0) begin = cpu;
    if (mine || begin < 0) continue;
    std::fprintf(file, "%s[%d,%d]", first ? "" : ",", begin, cpu - 1);
    first = false;
    begin = -1;
  }
}

// A number that is the same for all processes of a node and reveals nothing of it: hashed from what its kernel drew at its start.
std::uint64_t node() {
  std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
  std::FILE* file = std::fopen("/proc/sys/kernel/random/boot_id", "r");
  if (file == nullptr) return 0;
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  std::fclose(file);
  return hash;
}

// Returns the processor time of the whole process, all its threads.
double processor_seconds() {
  timespec t{};
  return clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) == 0 ? static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec) : 0;
}

// Threads are added up here, in a table of the caller's that no program uses any more.
void write_pairs(std::FILE* file, int phase) {
  Table* sum = new (make(sizeof(Table))) Table;
  for (Thread* t = threads(); t != nullptr; t = t->next) {
    const Table* table = t->tables[phase].load(std::memory_order_acquire);
    for (const Chunk* c = table == nullptr ? nullptr : &table->first; c != nullptr; c = c->next.load(std::memory_order_acquire)) {
      const int used = c->used.load(std::memory_order_acquire);
      for (int i = 0; i < used; ++i) {
        Pair& pair = sum->pair(c->pairs[i].peer, c->pairs[i].way);
        add(pair.messages, read(c->pairs[i].messages));
        add(pair.bytes, read(c->pairs[i].bytes));
      }
    }
  }
  bool first = true;
  for (const Chunk* c = &sum->first; c != nullptr; c = c->next.load()) {
    for (int i = 0; i < c->used.load(); ++i) {
      const Pair& p = c->pairs[i];
      if (read(p.messages) == 0) continue;
      const int from = p.way == Way::out ? state.rank : p.peer, to = p.way == Way::out ? p.peer : state.rank;
      std::fprintf(file, "%s\n  [%d,%d,%llu,%llu]", first ? "" : ",", from, to, static_cast<u64>(read(p.messages)),
                   static_cast<u64>(read(p.bytes)));
      first = false;
    }
  }
}

}  // namespace

void begin_clock() { state.processor_seconds = processor_seconds(); }

bool write_file(bool complete, const char* how, double seconds, double second_per_tick) {
  const char* folder = std::getenv("FIRSTLIGHT_PROFILE");
  char part[4096], whole[4096], library[MPI_MAX_LIBRARY_VERSION_STRING + 1] = "";
  if (folder == nullptr) return false;
  const long stamp = static_cast<long>(nanoseconds() & 0xffffffffu);
  const int length =
      std::snprintf(part, sizeof part, "%s/.rank-%06d.%ld-%08lx.part", folder, state.rank, static_cast<long>(getpid()), stamp);
  std::snprintf(whole, sizeof whole, "%s/rank-%06d.%ld-%08lx.json", folder, state.rank, static_cast<long>(getpid()), stamp);
  if (length < 0 || length >= static_cast<int>(sizeof part)) return false;
  std::FILE* file = std::fopen(part, "wx");
  if (file == nullptr) return false;
  int used = 0;
  real.Get_library_version(library, &used);
  // Its name and version: what follows may name the machine that it was built on.
  library[used < 60 ? used : 60] = 0;
  for (char* c = library; *c != 0; ++c) {
    if (*c == ',' || *c == '\n') *c = 0;
    if (*c == 0) break;
    if (*c < ' ' || *c > '~' || *c == '"' || *c == '\\') *c = ' ';
  }
  std::fprintf(file, "{\"schema\":1,\"rank\":%d,\"ranks\":%d,\"complete\":%s,\"how\":\"%s\",\"library\":\"%s\",\"seconds\":%.9g,\n",
               state.rank, state.size, complete ? "true" : "false", how, library, seconds);
  std::fprintf(file, "\"node\":\"%016llx\",\"processor_seconds\":%.9g,\"cpus\":[", static_cast<u64>(node()),
               processor_seconds() - state.processor_seconds);
  write_processors(file);
  std::fprintf(file, "],\n\"folded\":%s,\"phases\":[", state.too_many_phases ? "true" : "false");
  for (int phase = 0; phase < state.phase_count; ++phase) {
    std::fprintf(file, "%s\n {\"level\":%d,\"seconds\":%.9g,\"kinds\":[", phase == 0 ? "" : ",", state.phases[phase].level,
                 static_cast<double>(state.phases[phase].ticks) * second_per_tick);
    write_kinds(file, phase, second_per_tick);
    std::fprintf(file, "],\n \"pairs\":[");
    write_pairs(file, phase);
    std::fprintf(file, "],\n \"sizes\":[");
    write_sizes(file, phase);
    std::fprintf(file, "]}");
  }
  std::fprintf(file, "]}\n");
  bool good = std::ferror(file) == 0 && std::fflush(file) == 0 && fsync(fileno(file)) == 0;
  good = std::fclose(file) == 0 && good;
  if (good) good = std::rename(part, whole) == 0;
  if (!good) unlink(part);
  return good;
}

}  // namespace fl
