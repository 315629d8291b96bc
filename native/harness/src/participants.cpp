#include "participants.hpp"

#include <dirent.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <set>

#include "firstlight/variant.hpp"

namespace fl {
namespace {

// The CPU clock of a thread by its number, as the kernel makes it: linux/posix-timers.h, CPUCLOCK_SCHED of one thread.
clockid_t clock_of(int thread) { return static_cast<clockid_t>(~static_cast<unsigned>(thread) << 3 | 6u); }

double seconds_of(clockid_t clock) {
  timespec used{};
  return clock_gettime(clock, &used) == 0 ? static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec) : -1;
}

// Whether CPU clocks of threads advance with what they run. Some systems count ticks of 10 ms, which short work escapes.
bool fine_clocks() {
  const double begin = seconds_of(CLOCK_THREAD_CPUTIME_ID);
  double now = begin;
  for (int k = 0; k < 1000 && now == begin; ++k) now = seconds_of(CLOCK_THREAD_CPUTIME_ID);
  return now > begin && now - begin < 1e-3;
}

// Threads that were there before any parallel region, but for the first: helpers of MPI and of other libraries.
std::set<int> helpers;

// CPU seconds of each thread of this process, without helpers. Ends the job where the system does not show them.
std::map<int, double> cpu_times() {
  std::map<int, double> times;
  const std::unique_ptr<DIR, int (*)(DIR*)> tasks(opendir("/proc/self/task"), &closedir);
  if (tasks == nullptr) give_up("cannot see the threads of this process: /proc/self/task cannot be read; mount /proc");
  while (const dirent* entry = readdir(tasks.get())) {
    const int thread = std::atoi(entry->d_name);
    if (const double used = thread > 0 ? seconds_of(clock_of(thread)) : -1; used >= 0 && helpers.count(thread) == 0) times[thread] = used;
  }
  return times;
}

}  // namespace

std::string lacks_threads(const Team& team) {
  if (team.threads == 1 || variant.in_each_thread == nullptr) return "";
  for (const auto& [thread, used] : cpu_times())
    if (thread != getpid()) helpers.insert(thread);
  std::atomic<int> threads = 0;
  variant.in_each_thread(team.threads, [](void* count) { ++*static_cast<std::atomic<int>*>(count); }, &threads);
  if (threads == team.threads) return "";
  return text("OpenMP gives %d of %d threads; unset OMP_THREAD_LIMIT and OMP_DYNAMIC", threads.load(), team.threads);
}

Participants::Participants(const Team& team)
    : threads_(team.threads), visible_(team.threads > 1 && variant.in_each_thread != nullptr && fine_clocks()) {}

void Participants::begin() {
  if (visible_) before_ = cpu_times();
}

void Participants::end() {
  if (!visible_) return;
  seen_ = 0;
  for (const auto& [thread, used] : cpu_times()) {
    const auto before = before_.find(thread);
    if (before == before_.end() || used > before->second) ++seen_;
  }
}

Check Participants::judged(const Check& result) const {
  if (!result.ok || !visible_ || seen_ >= threads_) return result;
  return {false, static_cast<double>(threads_ - seen_), 0, text("%d of %d threads took part", seen_, threads_)};
}

}  // namespace fl
