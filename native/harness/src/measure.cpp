#include "measure.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "comm.hpp"
#include "device_check.hpp"
#include "energy_spans.hpp"
#include "fences.hpp"
#include "firstlight/program.hpp"
#include "firstlight/variant.hpp"
#include "kernels.hpp"
#include "participants.hpp"
#include "sketch.hpp"

namespace fl {
namespace {

// Beyond this a check of its own before timing costs more than the measurement; poison and the check after it remain.
constexpr double check_twice_below = 64 * 0x1p20;
constexpr Index most_counted_runs = 16;
constexpr Index most_steps = Index{1} << 40;
constexpr double no_hiccup = 50;  // times the wanted length: no interruption is as long, and another batch would be dear
// What a profiler of MPI sees of the recorded samples, and of nothing else, is phase 2.
constexpr int sampled = 2;

double wall_seconds() { return 1e-9 * static_cast<double>(clock_nanoseconds()); }

class ParameterWriter final : public Fields {
 public:
  explicit ParameterWriter(Json& json) : json_(json) {}
  void integer(const char* name, Index& value, const char*, Index, Index, const char*) override { json_.member(name, value); }
  // With a point or an exponent, so that it stays a number of that type wherever the record is read.
  void real(const char* name, double& value, const char*, double, double, const char*) override {
    const std::string digits = shortest(value);
    json_.key(name).raw(digits.find_first_of(".e") == std::string::npos ? digits + ".0" : digits);
  }
  void choice(const char* name, std::string& value, const char*, const char*) override { json_.member(name, value); }
  void file(const char* name, Document& value, const char*, const char*) override { json_.member(name, value.name); }
  void storage(const char* name, Storage& value, const char*) override { json_.member(name, value.name); }

 private:
  Json& json_;
};

// The object that executes a variant's steps, so that requests and windows are freed on every path. One at a time.
class Stepper {
 public:
  explicit Stepper(Instance& instance)
      : steps_(steps_of(instance)), state_(instance.state()), object_(steps_.open != nullptr ? steps_.open(state_) : nullptr) {
    current = this;
  }
  ~Stepper() {
    current = nullptr;
    if (steps_.close != nullptr) steps_.close(object_, state_);
  }
  Stepper(const Stepper&) = delete;
  Stepper& operator=(const Stepper&) = delete;

  void run(Index first, Index count) const { steps_.batch(object_, state_, first, count); }

  static inline const Stepper* current = nullptr;

 private:
  Steps steps_;
  void* state_;
  void* object_;
};

class Timer {
 public:
  Timer(Recorder& recorder, const Team& team, Instance& instance, const Stepper& stepper, int number)
      : recorder_(recorder), team_(team), instance_(instance), stepper_(stepper), number_(number) {}

  // Times `steps` further steps on all ranks at once and returns the maximum over ranks.
  double time(Index steps, int index, bool write) {
    detail::Watch watch;
    double used = 0;
    if (team_.threads > 1) clock_.find_threads();
    in_spans(steps, [&](Index count) {
      comm::phase(write ? sampled : 1);
      const double cpu = clock_.seconds();
      detail::watch = &watch;
      watch.since = clock_nanoseconds();
      stepper_.run(next_, count);
      watch.turn(0);
      detail::watch = nullptr;
      used += clock_.seconds() - cpu;
      comm::phase(1);
    });
    const double wall = 1e-9 * static_cast<double>(std::accumulate(std::begin(watch.spent), std::end(watch.spent), std::int64_t{0}));
    const Timing timing{wall, wall > 0 && !variant.idle && variant.device == nullptr ? used / (wall * team_.threads) : 1};
    observed_.begin(steps, workload.about->phases, watch);
    if (instance_.observes()) instance_.observe(observed_);
    const bool observing = instance_.observes() || workload.about->phases.count() > 0;
    return recorder_.sample(number_, index, timing, write, observing ? &observed_ : nullptr).wall;
  }

  // The same steps once more, not timed; of whole runs a few, for counters are switched before and after each.
  void count(Index steps, Counters& counters) {
    if (instance_.resets()) steps = std::min(steps, most_counted_runs);
    counters.begin();
    in_spans(steps, [&](Index count) {
      counters.resume();
      stepper_.run(next_, count);
      counters.pause();
    });
    recorder_.counters(number_, steps, counters.end());
  }

  // Grows the batch until two in a row last `seconds`: one alone may have met an interruption, which would leave samples of a few steps
  // for the whole launch. What it runs on the way is the warm-up.
  Index calibrate(double seconds) {
    Index steps = 1;
    for (;;) {
      double wall = time(steps, 0, false);
      if (wall >= seconds && wall < no_hiccup * seconds) wall = std::min(wall, time(steps, 0, false));
      if (wall >= seconds || steps >= most_steps) return steps;
      const double wanted = wall > 0 ? 1.1 * seconds / wall : 100;
      steps = static_cast<Index>(std::ceil(static_cast<double>(steps) * std::clamp(wanted, 1.1, 100.0)));
    }
  }

  // Runs `steps` steps without timing them. A variant cannot distinguish them from a sample. The outputs are poisoned before the last step.
  // `inner`: after how many of them mutate_inputs() saves what was left; 0: none.
  // `only`: no other check follows. A step that finds poison may compute all that earlier ones left out. So outputs stay as they are if
  // inputs changed before these steps.
  void look(Index steps, Index inner, bool only) {
    const Index renewed = next_;
    next_ = instance_.mutate_between_batches(next_);
    const bool poisons = !only || next_ == renewed;
    if (inner > 0 && !instance_.resets()) saved_before = next_ + inner;
    const auto take = [&](Index count) {
      if (instance_.resets()) instance_.reset();
      comm::barrier();
      stepper_.run(next_, count);
      next_ += count;
    };
    if (instance_.resets())
      for (Index done = 1; done < steps; ++done) take(1);
    else if (steps > 1)
      take(steps - 1);
    comm::barrier();  // no rank still sends to the outputs
    if (poisons) instance_.poison();
    take(1);
  }

  Index last() const { return next_ - 1; }
  void series() { recorder_.series(number_, observed_); }

 private:
  // `span` for so many steps, in one piece or, where the state is restored before each, one by one; all ranks begin at once.
  template <class Span>
  void in_spans(Index steps, Span span) {
    const Index at_once = instance_.resets() ? 1 : steps;
    next_ = instance_.mutate_between_batches(next_);
    for (Index done = 0; done < steps; done += at_once) {
      if (instance_.resets()) instance_.reset();
      comm::barrier();
      span(at_once);
      next_ += at_once;
    }
  }

  Recorder& recorder_;
  const Team& team_;
  Instance& instance_;
  const Stepper& stepper_;
  ProcessClock clock_;
  Observed observed_;
  int number_;
  Index next_ = 0;
};

// A right result is wrong if something else was overwritten.
Check fenced(const Check& found) {
  const Index arrays = trespassed();
  if (!found.ok || arrays == 0) return found;
  return {false, static_cast<double>(arrays), 0, text("wrote beyond the ends of %lld arrays", static_cast<long long>(arrays))};
}

// Chooses when to check a step that no variant can predict: before which sample, at the end of a batch of which length, and after how many
// steps within it. If samples have three steps or more, that batch is neither a single step nor as long as a sample; if they have four or
// more, it has a step between its first and its last two. If samples have one step, the sample itself is checked, which is not the last sample.
struct Look {
  Look(int number, int samples, Index steps)
      : before(static_cast<int>(drawn(number, 0, samples - 1))),
        steps(steps < 3    ? steps
              : steps == 3 ? 2
                           : 3 + drawn(number, 1, steps - 3)),
        inner(this->steps < 3 ? 0 : 1 + drawn(number, 2, this->steps - 2)) {}
  int before;
  Index steps, inner;

 private:
  static Index drawn(int number, int what, Index below) {
    return static_cast<Index>(hash(~(seed() + static_cast<std::uint64_t>(3 * number + what))) % static_cast<std::uint64_t>(below));
  }
};

// Returns the decision of the first rank on all ranks. Ranks may see their clocks, counters and sizes differently, and what follows is
// collective.
bool first_rank_decides(bool mine) {
  int decided = mine ? 1 : 0;
  comm::broadcast(&decided, sizeof decided);
  return decided == 1;
}

// Returns why this rank runs no case at all; empty if it may run cases.
std::string refusal_of_all(const Team& team) {
  if (std::string lacking = lacks_device(); !lacking.empty()) return lacking;
  if (std::string lacking = lacks_threads(team); !lacking.empty()) return lacking;
  if (team.threads > 1 && variant.in_each_thread == nullptr) return "this variant runs one thread; omit --threads";
  return "";
}

// Returns why this rank cannot run a case; empty if it can.
std::string refusal(Instance& instance, const Team& team) {
  std::string reason = instance.refuse(team);
  if (reason.empty() && variant.refuse != nullptr) reason = variant.refuse(instance.params());
  if (!reason.empty()) return reason;
  try {
    steps_of(instance);
  } catch (const UsageError& error) {
    return error.what();
  }
  return lacks_memory(instance.cost(team).working_set * team.ranks / team.nodes);
}

// Returns the message of some rank, empty if no rank has one. Collective: all ranks agree whether it is empty; rank 0 has the full text.
std::string agreed(const std::string& mine, const Team& team) {
  if (!comm::any(!mine.empty())) return "";
  struct Message {
    char words[1000];
  } message{};
  mine.copy(message.words, sizeof message.words - 1);
  std::vector<Message> all(comm::rank() == 0 ? static_cast<std::size_t>(team.ranks) : 0);
  comm::gather(&message, sizeof message, all.data());
  if (comm::rank() > 0) return "refused";
  const auto silent = [](const Message& one) { return one.words[0] == '\0'; };
  const auto first = std::find_if_not(all.begin(), all.end(), silent);
  const bool alone = std::any_of(all.begin(), all.end(), silent);
  return (alone ? "rank " + std::to_string(first - all.begin()) + ": " : "") + first->words;
}

// Returns an open JSON object with the parameters.
Json parameters_of(Instance& instance) {
  Json parameters;
  parameters.open('{');
  ParameterWriter writer(parameters);
  instance.declare(writer);
  return parameters;
}

}  // namespace

void first_touch(void* state) {
  if (variant.first_touch != nullptr) variant.first_touch(state);
}

void run_steps(Index first, Index count) { Stepper::current->run(first, count); }

std::string wrong_values(const Arguments& arguments) {
  values_only = true;
  std::string first;
  bool some = false;
  for (const Assignment& assignment : arguments.cases) {
    const auto instance = workload.create();
    assign(*instance, arguments, assignment);
    // With MPI, the number of ranks is not known here.
    const std::string reason = comm::with_mpi() ? "" : instance->refuse({0, 1, arguments.threads, 1});
    some = some || reason.empty();
    if (first.empty()) first = reason;
  }
  return some ? "" : first;
}

PlannedCases planned_cases(const Arguments& arguments, const Team& team) {
  PlannedCases planned;
  std::string mine = refusal_of_all(team);
  try {
    std::set<std::string> known;
    for (const Assignment& assignment : arguments.cases) {
      if (!mine.empty()) break;
      const auto instance = workload.create();
      assign(*instance, arguments, assignment);
      if (known.insert(parameters_of(*instance).text()).second) planned.each.push_back({assignment, refusal(*instance, team)});
    }
  } catch (const UsageError& error) {
    mine = error.what();
  }
  planned.refusal = agreed(mine, team);
  if (!planned.refusal.empty()) return planned;
  const auto runs = [](const PlannedCase& one) { return one.refusal.empty(); };
  if (!comm::any(!std::all_of(planned.each.begin(), planned.each.end(), runs))) return planned;
  for (PlannedCase& one : planned.each) one.refusal = agreed(one.refusal, team);
  if (std::none_of(planned.each.begin(), planned.each.end(), runs)) planned.refusal = planned.each.front().refusal;
  return planned;
}

void refuse_case(Recorder& recorder, const Arguments& arguments, const Team& team, int number, const PlannedCase& planned) {
  const auto instance = workload.create();
  assign(*instance, arguments, planned.values);
  recorder.refused(number, parameters_of(*instance), team, planned.refusal);
}

bool run_case(Recorder& recorder, Counters& counters, const Arguments& arguments, const Team& team, int number,
              const Assignment& assignment) {
  const auto instance = workload.create();
  assign(*instance, arguments, assignment);
  instance->init(team);
  const Stepper stepper(*instance);
  const Cost cost = instance->cost(team);
  const Json parameters = parameters_of(*instance);

  Timer timer(recorder, team, *instance, stepper, number);
  DeviceCheck devices;
  Check first;
  const bool checked = variant.unverified == nullptr, twice = first_rank_decides(checked && cost.working_set < check_twice_below);
  instance->poison();
  fence();
  if (twice) {
    timer.time(1, 0, false);
    // The line of the case must come first, and its step count is known only after calibration: hold the check back until then.
    devices.query();
    first = devices.judged(fenced(instance->check(timer.last())));
    if (comm::any(!first.ok)) {
      recorder.begin_case(number, parameters, team, cost, 1);
      devices.record(recorder, number);
      return recorder.check(number, "before", first);
    }
    instance->poison();
  }
  const Index steps = arguments.steps > 0 ? arguments.steps : timer.calibrate(arguments.sample_seconds);
  recorder.begin_case(number, parameters, team, cost, steps);
  if (twice) recorder.check(number, "before", first);
  devices.forget();
  const Look look(number, arguments.samples, steps);
  Participants participants(team);
  EnergySpans energy(recorder, arguments.energy_files, arguments.energy, number);
  bool ok = true, looked = !twice, blank = false;  // blank: outputs are poisoned, and no step has followed
  const auto judge_look = [&] {
    devices.query();
    ok = recorder.check(number, "between", devices.judged(fenced(instance->check(timer.last()))));
    instance->poison();
    saved_before = -1;
    looked = blank = true;
  };
  const double start = wall_seconds();
  for (int index = 0; index < arguments.samples; ++index) {
    const bool late = index >= 2 && !first_rank_decides(wall_seconds() - start < arguments.case_seconds);
    if (late && !blank && (looked || steps == 1)) break;
    const bool now = !looked && (late || index == look.before);
    if (now) energy.end();
    if (now && steps > 1) {
      timer.look(look.steps, look.inner, false);
      judge_look();
      timer.time(1, 0, false);  // this warms the caches and drops what was observed of other steps
    } else if (now) {
      instance->poison();
    }
    participants.begin();
    energy.sample_follows();
    energy.sample_ended(timer.time(steps, index, true));
    participants.end();
    blank = false;
    if (now && steps == 1) {
      energy.end();
      judge_look();
    }
  }
  energy.end();
  timer.series();
  if (instance->draws()) {
    Sketch sketch;
    instance->draw(sketch);
    recorder.field(number, sketch);
  }
  if (checked && !twice && steps > 1) timer.look(look.steps, look.inner, true);  // this prepares the only check of the case
  devices.query();
  devices.record(recorder, number);
  const bool judge = checked || comm::any(devices.off_device());
  const Check found = checked ? participants.judged(fenced(instance->check(timer.last()))) : Check{true, 0, 0, ""};
  saved_before = -1;
  if (judge) ok = recorder.check(number, "after", devices.judged(found)) && ok;
  if (first_rank_decides(counters.any())) timer.count(steps, counters);  // those of rank 0 are kept
  return ok;
}

}  // namespace fl
