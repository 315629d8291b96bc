// waiting: the CPU time of a process that waits in MPI (R1). Rank 0 sleeps for `ms` milliseconds, the others wait for it; observed is the
// share of its waiting time that a waiting rank spends on a processor or in line for one: 1 for a rank that polls, 0
// for one that sleeps, also where other programs take the processors meanwhile.
//
// A waiting rank may not go on before rank 0 has woken: both read the clock of their node, and the check compares.
#pragma once

#include <fcntl.h>
#include <mpi.h>
#include <time.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>

#include "firstlight/variant.hpp"
#include "firstlight/workload.hpp"

namespace waiting {

struct Params {
  fl::Index ms = 10;
  void declare(fl::Fields& fields) { fields.integer("ms", ms, "ms", 1, 60000, "how long rank 0 sleeps"); }
};

struct Traits {
  bool no_payload = false;  // ranks get no data, so that only the clocks show whether they waited: all on one node then
};

struct State {
  fl::Team team;
  bool no_payload = false;
  fl::Index ms = 0;
  fl::Index iteration = 0;
  double began = 0;                                        // the step; seconds of its node's clock
  std::uint64_t word = 0;                                  // what rank 0 sent to this one
  double awake = 0;                                        // rank 0: when it had slept; seconds of its node's clock
  double on = 0;                                           // the others: when they could go on
  double waited = 0, busy = 0, since = 0, busy_since = 0;  // seconds since the last observation
};

inline constexpr fl::About about{
    .title = "Waiting in MPI",
    .cost = "One operation: rank 0 sleeps for ms milliseconds, and the others wait for it.",
    .verified =
        "The word that each waiting rank receives, a function of iteration and rank. Rank 0 must have slept as long as it reports, "
        "and the others must have measured that time. On one node, no rank may continue before rank 0 wakes.",
    .tolerance = "Exact",
};

inline constexpr fl::Metric metrics[] = {{"cpu_share", "%", "cpu_share", "value", 100, "lower"}};

inline std::string refuse(const Params&, const fl::Team& team, const Traits& traits) {
  if (team.ranks < 2) return "waiting needs a rank that sleeps and one that waits; 1 given; start it with mpiexec -n 2";
  if (traits.no_payload && team.nodes > 1)
    return fl::text("this variant of waiting needs all ranks on one node, because their clocks must be the same, not on %d", team.nodes);
  return "";
}

// --- in the timed loop -------------------------------------------------------------------------------------------------

inline double seconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Seconds that the process's first thread has stood in line for a processor; 0 where the kernel does not report it.
inline double queued() {
  static const int file = open("/proc/self/schedstat", O_RDONLY | O_CLOEXEC);
  char text[96] = {};
  unsigned long long nanoseconds = 0;
  if (file < 0 || pread(file, text, sizeof text - 1, 0) <= 0 || std::sscanf(text, "%*u %llu", &nanoseconds) != 1) return 0;
  return 1e-9 * static_cast<double>(nanoseconds);
}

inline double wanted() { return seconds(CLOCK_PROCESS_CPUTIME_ID) + queued(); }

inline std::uint64_t word(fl::Index iteration, int rank) {
  return fl::hash(static_cast<std::uint64_t>(iteration) * 0x10001 + static_cast<std::uint64_t>(rank));
}

inline void mutate_inputs(State& s, fl::Index iteration) {
  s.iteration = iteration;
  s.began = seconds(CLOCK_MONOTONIC);
}

// Rank 0, before it does what the others wait for.
inline void sleep(State& s) {
  timespec left{static_cast<time_t>(s.ms / 1000), static_cast<long>(s.ms % 1000 * 1'000'000)};
  while (nanosleep(&left, &left) != 0) {
  }
  s.awake = seconds(CLOCK_MONOTONIC);
}

// Sends each other rank its word.
inline void send_to_all(const State& s, fl::Index iteration) {
  for (int r = 1; r < s.team.ranks; ++r) {
    const std::uint64_t text = word(iteration, r);
    MPI_Send(&text, 1, MPI_UINT64_T, r, 0, MPI_COMM_WORLD);
  }
}

// The others, around the call that makes them wait.
inline void begin(State& s) {
  s.since = seconds(CLOCK_MONOTONIC);
  s.busy_since = wanted();
}

inline void end(State& s) {
  s.busy += wanted() - s.busy_since;
  s.on = seconds(CLOCK_MONOTONIC);
  s.waited += s.on - s.since;
}

// Waits in MPI_Recv for the word of rank 0.
inline void receive(State& s) {
  begin(s);
  MPI_Recv(&s.word, 1, MPI_UINT64_T, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  end(s);
}

// --- outside of it -----------------------------------------------------------------------------------------------------

inline void init(State& s, const Params& p, const fl::Team& team, const Traits& traits) {
  s.team = team;
  s.no_payload = traits.no_payload;
  s.ms = p.ms;
}

inline fl::Cost cost(const Params&, const fl::Team& team, const Traits& traits) {
  const double messages = traits.no_payload ? 0.0 : team.ranks - 1.0;
  return {.messages = messages, .message_bytes = 8 * messages, .operations = 1};
}

inline void poison(State& s) {
  s.word = fl::poison_bits;
  s.awake = s.on = s.since = -1;
}

inline fl::Check check(State& s, fl::Index last) {
  double awake = s.awake;
  MPI_Bcast(&awake, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (s.team.rank == 0) {
    const double requested = 1e-3 * static_cast<double>(s.ms), slept = s.awake - s.began;
    return fl::Check::of(std::fmax(0, requested - slept), 0,
                         fl::text("rank 0 slept %.6g s, should sleep %.6g s", std::fmax(0, slept), requested));
  }
  const std::uint64_t wanted = word(last, s.team.rank);
  if (!s.no_payload && s.word != wanted)
    return fl::Check::of(1, 0,
                         fl::text("rank %d has 0x%016llx, should have 0x%016llx", s.team.rank, static_cast<unsigned long long>(s.word),
                                  static_cast<unsigned long long>(wanted)));
  if (!(s.since >= s.began && s.on >= s.since)) return fl::Check::of(1, 0, fl::text("rank %d did not measure its waiting", s.team.rank));
  const double early = s.team.nodes == 1 ? std::fmax(0, awake - s.on) : 0;
  return fl::Check::of(early, 0,
                       early > 0 ? fl::text("rank %d continued %.3g s before rank 0 woke up", s.team.rank, early) : "waited for rank 0");
}

inline void observe(State& s, fl::Observations& seen) {
  seen.value("cpu_share", s.waited > 0 ? s.busy / s.waited : 0.0);  // 0 on rank 0, which does not wait
  s.waited = s.busy = 0;
}

}  // namespace waiting
