#include "measure.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <memory>

#include "comm.hpp"
#include "firstlight/program.hpp"
#include "firstlight/variant.hpp"

namespace fl {
namespace {

// Beyond this a check of its own before timing costs more than the measurement; poison and the check after it remain.
constexpr double check_twice_below = 64 * 0x1p20;
constexpr Index most_steps = Index{1} << 40;
// What a profiler of MPI sees of the recorded samples, and of nothing else, is phase 2.
constexpr int sampled = 2;

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double wall_seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

class ParameterWriter final : public Fields {
 public:
  explicit ParameterWriter(Json& json) : json_(json) {}
  void integer(const char* name, Index& value, const char*, Index, Index, const char*) override { json_.member(name, value); }
  void choice(const char* name, std::string& value, const char*, const char*) override { json_.member(name, value); }

 private:
  Json& json_;
};

// The variant's set-up and its counterpart, so that requests and windows are freed on every path.
class Prepared {
 public:
  explicit Prepared(void* state) : state_(state) {
    if (variant.setup != nullptr) variant.setup(state_);
  }
  ~Prepared() {
    if (variant.finish != nullptr) variant.finish(state_);
  }
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;

 private:
  void* state_;
};

class Timer {
 public:
  Timer(Recorder& recorder, const Team& team, Instance& instance, int number)
      : recorder_(recorder), team_(team), instance_(instance), state_(instance.state()), number_(number) {}

  // Times `steps` further steps on all ranks at once and returns the maximum over ranks.
  double time(Index steps, int index, bool write) {
    comm::barrier();
    comm::phase(write ? sampled : 1);
    const double cpu = cpu_seconds();
    const double start = wall_seconds();
    variant.batch(state_, next_, steps);
    const double wall = wall_seconds() - start;
    const double used = cpu_seconds() - cpu;
    comm::phase(1);
    next_ += steps;
    const Timing timing{wall, wall > 0 && !variant.idle ? used / (wall * team_.threads) : 1};
    if (!instance_.observes()) return recorder_.sample(number_, index, timing, write, nullptr).wall;
    observed_.begin(steps);
    instance_.observe(observed_);
    return recorder_.sample(number_, index, timing, write, &observed_).wall;
  }

  // Grows the batch until it lasts `seconds`; what it runs on the way is the warm-up.
  Index calibrate(double seconds) {
    Index steps = 1;
    for (;;) {
      const double wall = time(steps, 0, false);
      if (wall >= seconds || steps >= most_steps) return steps;
      const double wanted = wall > 0 ? 1.1 * seconds / wall : 100;
      steps = static_cast<Index>(std::ceil(static_cast<double>(steps) * std::clamp(wanted, 1.1, 100.0)));
    }
  }

  Index last() const { return next_ - 1; }
  void series() { recorder_.series(number_, observed_); }
  void skip(Index steps) { next_ += steps; }
  Index next() const { return next_; }

 private:
  Recorder& recorder_;
  const Team& team_;
  Instance& instance_;
  Observed observed_;
  void* state_;
  int number_;
  Index next_ = 0;
};

bool everywhere(bool mine) {
  int decided = mine ? 1 : 0;
  comm::broadcast(&decided, sizeof decided);
  return decided == 1;
}

}  // namespace

void first_touch(void* state) {
  if (variant.first_touch != nullptr) variant.first_touch(state);
}

void refuse_early(const Arguments& arguments, const Team& team) {
  if (team.threads > 1 && variant.in_each_thread == nullptr) throw UsageError("this variant runs one thread; leave --threads out");
  for (const Assignment& assignment : arguments.cases) {
    const auto instance = workload.create();
    assign(*instance, assignment);
    std::string reason = instance->refuse(team);
    if (reason.empty() && variant.refuse != nullptr) reason = variant.refuse(instance->params());
    if (!reason.empty()) throw UsageError(reason);
  }
}

bool run_case(Recorder& recorder, Counters& counters, const Arguments& arguments, const Team& team, int number,
              const Assignment& assignment) {
  const auto instance = workload.create();
  assign(*instance, assignment);
  instance->init(team);
  const Prepared prepared(instance->state());
  const Cost cost = instance->cost(team);
  Json parameters;
  parameters.open('{');
  ParameterWriter writer(parameters);
  instance->declare(writer);

  Timer timer(recorder, team, *instance, number);
  Check first;
  const bool checked = variant.unverified == nullptr, twice = checked && cost.working_set < check_twice_below;
  instance->poison();
  if (twice) {
    timer.time(1, 0, false);
    // The line of the case must come first, and its step count is known only after calibration: hold the check back until then.
    first = instance->check(timer.last());
    if (comm::any(!first.ok)) {
      recorder.begin_case(number, parameters, team, cost, 1);
      return recorder.check(number, "before", first);
    }
    instance->poison();
  }
  const Index steps = arguments.steps > 0 ? arguments.steps : timer.calibrate(arguments.sample_seconds);
  recorder.begin_case(number, parameters, team, cost, steps);
  if (twice) recorder.check(number, "before", first);
  const double start = wall_seconds();
  for (int index = 0; index < arguments.samples; ++index) {
    if (index >= 2 && !everywhere(wall_seconds() - start < arguments.case_seconds)) break;
    timer.time(steps, index, true);
  }
  timer.series();
  const bool ok = !checked || recorder.check(number, "after", instance->check(timer.last()));
  if (counters.any()) {
    counters.begin();
    variant.batch(instance->state(), timer.next(), steps);
    recorder.counters(number, steps, counters.end());
  }
  return ok;
}

}  // namespace fl
