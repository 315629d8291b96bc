#include "participants.hpp"

#include <dirent.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>

#include "firstlight/variant.hpp"

// LLVM's and Intel's runtime: sets how long a thread waits for the next parallel region before it sleeps, in ms. Below: OpenMP 5.0.
// Both are null if the program has no such runtime.
extern "C" [[gnu::weak]] void kmp_set_blocktime(int milliseconds);
extern "C" [[gnu::weak]] int omp_pause_resource_all(int kind);

namespace fl {
namespace {

constexpr int pause_soft = 1;

// Returns the CPU clock of a thread, computed from its number as the kernel does: linux/posix-timers.h, CPUCLOCK_SCHED of one thread.
clockid_t clock_of(int thread) { return static_cast<clockid_t>(~static_cast<unsigned>(thread) << 3 | 6u); }

double seconds_of(clockid_t clock) {
  timespec used{};
  return clock_gettime(clock, &used) == 0 ? static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec) : -1;
}

// Returns whether the CPU clocks of threads are fine-grained. Some systems count ticks of 10 ms, which miss short work.
bool fine_clocks() {
  const double begin = seconds_of(CLOCK_THREAD_CPUTIME_ID);
  double now = begin;
  for (int k = 0; k < 1000 && now == begin; ++k) now = seconds_of(CLOCK_THREAD_CPUTIME_ID);
  return now > begin && now - begin < 1e-3;
}

// Threads that existed before any parallel region, except the first: helpers of MPI and of other libraries.
std::set<int> helpers;
// Set if the system showed the threads of the harness's own parallel region.
bool shown = false;

// Returns the CPU seconds of each thread of this process. Aborts the job if the system does not show them.
std::map<int, double> cpu_times() {
  std::map<int, double> times;
  const std::unique_ptr<DIR, int (*)(DIR*)> tasks(opendir("/proc/self/task"), &closedir);
  if (tasks == nullptr) abort_all("cannot see the threads of this process: /proc/self/task cannot be read; mount /proc");
  while (const dirent* entry = readdir(tasks.get())) {
    const int thread = std::atoi(entry->d_name);
    if (const double used = thread > 0 ? seconds_of(clock_of(thread)) : -1; used >= 0) times[thread] = used;
  }
  return times;
}

// Returns whether a thread other than this one runs or is ready to run; helpers are not counted.
bool others_run() {
  const std::unique_ptr<DIR, int (*)(DIR*)> tasks(opendir("/proc/self/task"), &closedir);
  if (tasks == nullptr) return false;
  const auto self = static_cast<int>(syscall(SYS_gettid));
  while (const dirent* entry = readdir(tasks.get())) {
    const int thread = std::atoi(entry->d_name);
    if (thread <= 0 || thread == self || helpers.count(thread) > 0) continue;
    std::ifstream file(text("/proc/self/task/%d/stat", thread));
    const std::string line{std::istreambuf_iterator<char>(file), {}};
    const std::size_t name = line.rfind(')');
    if (name != std::string::npos && name + 2 < line.size() && line[name + 2] == 'R') return true;
  }
  return false;
}

struct Ran {
  int threads = 0;     // those that used processor time, without helpers
  double seconds = 0;  // used by all threads, including helpers
};

Ran ran_since(const std::map<int, double>& before) {
  Ran ran;
  for (const auto& [thread, used] : cpu_times()) {
    const auto was = before.find(thread);
    const double more = was == before.end() ? used : used - was->second;
    ran.seconds += more;
    if ((more > 0 || was == before.end()) && helpers.count(thread) == 0) ++ran.threads;
  }
  return ran;
}

}  // namespace

std::string lacks_threads(const Team& team) {
  if (team.threads == 1 || variant.in_each_thread == nullptr) return "";
  for (const auto& [thread, used] : cpu_times())
    if (thread != getpid()) helpers.insert(thread);
  struct Seen {
    std::atomic<int> threads = 0, shown = 0;
  } seen;
  in_each_thread(
      team.threads,
      [](void* data) {
        auto& seen = *static_cast<Seen*>(data);
        ++seen.threads;
        if (cpu_times().count(static_cast<int>(syscall(SYS_gettid))) > 0) ++seen.shown;
      },
      &seen);
  shown = fine_clocks() && seen.shown == team.threads;
  const int threads = seen.threads;
  if (threads == team.threads) return "";
  return text("OpenMP provides only %d of %d threads; unset OMP_THREAD_LIMIT and OMP_DYNAMIC", threads, team.threads);
}

void in_each_thread(int threads, void (*call)(void*), void* data) {
  struct Calling {
    void (*call)(void*);
    void* data;
  } calling{call, data};
  variant.in_each_thread(
      threads,
      [](void* found) {
        const auto& [call, data] = *static_cast<Calling*>(found);
        call(data);
        if (kmp_set_blocktime != nullptr) kmp_set_blocktime(0);
      },
      &calling);
  // GNU's runtime then ends its threads. LLVM's would wake them for the next region, however small that region is.
  if (kmp_set_blocktime == nullptr && omp_pause_resource_all != nullptr) omp_pause_resource_all(pause_soft);
  // On a busy machine a thread that is to sleep may have to wait for a processor first, and would run during a sample.
  for (int k = 0; kmp_set_blocktime != nullptr && k < 1000 && others_run(); ++k) usleep(200);
}

void ProcessClock::find_threads() {
  threads_.clear();
  for (const auto& [thread, used] : cpu_times()) threads_.push_back(clock_of(thread));
}

double ProcessClock::seconds() const {
  for (const clockid_t clock : threads_) seconds_of(clock);  // updates the clock of the process
  return seconds_of(CLOCK_PROCESS_CPUTIME_ID);
}

Participants::Participants(const Team& team) : threads_(team.threads), visible_(team.threads > 1 && shown) {}

void Participants::begin() {
  if (!visible_) return;
  before_ = cpu_times();
  process_before_ = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
}

void Participants::end() {
  if (!visible_) return;
  cpu_times();  // updates the clock of the process, see ProcessClock
  const double process = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - process_before_;
  const Ran ran = ran_since(before_);
  ++samples_;
  // If the existing threads used less time than the process, threads that have ended used the rest: a runtime ends threads if a region has
  // fewer threads than the one before. Their number is then not visible.
  if (ran.threads >= threads_ || ran.seconds < process) return;
  ++short_;
  seen_ = std::max(seen_, ran.threads);
}

Check Participants::judged(const Check& result) const {
  if (!result.ok || 2 * short_ <= samples_) return result;
  return {false, static_cast<double>(threads_ - seen_), 0, text("%d of %d threads took part", seen_, threads_)};
}

}  // namespace fl
