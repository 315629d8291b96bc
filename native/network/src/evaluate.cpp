#include "firstlight/network/evaluate.hpp"

#include <algorithm>
#include <cmath>

#include "firstlight/network/alike_rounds.hpp"

namespace fl::network {

namespace {

constexpr double most_events = 2e8;  // about a minute

// The same network where bytes cost nothing.
Machine without_bytes(Machine m) {
  m.G = m.O = m.reduce = m.copy = 0;
  m.rates.clear();
  m.bandwidth = 1e300;
  m.S = 1e300;
  return m;
}

double events_wanted(const Plan& plan, const Topology& topology, const Contention& contention) {
  double events = static_cast<double>(plan.operations()) + contention.crossings;
  for (const Step& s : plan.steps())
    if (s.kind == collectives::Kind::send && topology.links() > 0) events += 2.0 * s.segments;
  return events;
}

// Whether bytes cost anything.
bool weighs(const Plan& plan, const Machine& machine) {
  const auto weighs = [](const Step& s) { return s.kind != collectives::Kind::compute && s.bytes > 0; };
  return !machine.rates.empty() || std::ranges::any_of(plan.steps(), weighs);
}

// Who is evaluated: one rank for all, all by one program, or each by its own.
enum class Who : std::uint8_t { one, alike, each };

Who who(const collectives::Schedule& schedule, const Topology& topology, const Question& question) {
  if (!representative(schedule, topology)) return Who::each;
  if (question.symmetry && !question.noise.present()) return Who::one;
  if (topology.links() > 0 || schedule.symmetry == collectives::Symmetry::torus) return Who::each;
  const Plan plan(schedule, 0, true);  // how copies are cut may differ from rank to rank
  const bool copies = std::ranges::any_of(plan.steps(), [](const Step& s) { return s.kind == collectives::Kind::copy; });
  return copies || plan.trains() ? Who::each : Who::alike;
}

class Evaluation {
 public:
  // schedule: where the plan is from, if it is known.
  Evaluation(const Plan& plan, const collectives::Schedule* schedule, double bytes, Who who, const Topology& topology,
             const Machine& machine)
      : plan_(plan), schedule_(schedule), bytes_(bytes), who_(who), topology_(topology), machine_(machine) {}

  const Plan& plan() const { return plan_; }
  Time by(Evaluator evaluator, const Interruptions& noise, const Machine& machine) const {
    if (evaluator == Evaluator::maxplus)
      return who_ == Who::alike ? each_rank(*schedule_, plan_, machine, noise) : max_plus(plan_, topology_, machine, noise);
    if (evaluator == Evaluator::rounds) return round_model(every(), topology_, machine, false);
    return flat_ ? loggops_events(every(), machine, noise) : link_events(plan_, topology_, machine, noise);
  }
  Time by(Evaluator evaluator, const Interruptions& noise) const { return by(evaluator, noise, machine_); }
  // The evaluator that is exact at the least cost, and its result without noise.
  // unqueued: without queues, where that was looked at on the way.
  Evaluator choose(const Contention& contention, const Noise& noise, Time& quiet, std::optional<double>& unqueued) const {
    if (!flat_ && contention.contention_free) {
      quiet = by(Evaluator::maxplus, {});
      return Evaluator::maxplus;
    }
    if (events_wanted(plan_, topology_, contention) > most_events) {
      quiet = by(Evaluator::rounds, {});
      return Evaluator::rounds;
    }
    if (flat_ && who_ != Who::one && !plan_.trains() && !noise.present()) {
      quiet = by(Evaluator::maxplus, {});
      if (quiet.exact) return Evaluator::maxplus;
      unqueued = quiet.nanoseconds * 1e-9;
    }
    quiet = by(Evaluator::events, {});
    return Evaluator::events;
  }

 private:
  // Queues and links are looked at rank by rank.
  const Plan& every() const {
    if (who_ != Who::alike) return plan_;
    if (!every_) every_.emplace(*schedule_, bytes_, false);
    return *every_;
  }

  const Plan& plan_;
  const collectives::Schedule* schedule_;
  double bytes_;
  Who who_;
  const Topology& topology_;
  const Machine& machine_;
  bool flat_ = topology_.links() == 0;
  mutable std::optional<Plan> every_;
};

Slowdown noisy(const Evaluation& e, Evaluator evaluator, const Noise& noise, double quiet) {
  std::vector<double> times;
  for (int run = 0; run < noise.runs; ++run) times.push_back(e.by(evaluator, Interruptions(noise, run)).nanoseconds * 1e-9);
  std::ranges::sort(times);
  const std::size_t half = times.size() / 2;
  const double median = times.size() % 2 == 1 ? times[half] : (times[half - 1] + times[half]) / 2;
  return {.median = median, .least = times.front(), .most = times.back(), .slowdown = quiet > 0 ? median / quiet : 1};
}

bool wants_rounds(const collectives::Schedule& schedule, const Topology& topology, const Question& question) {
  if (!question.symmetry || !knows_rounds(schedule) || representative(schedule, topology)) return false;
  return question.evaluator == Evaluator::rounds || (question.evaluator == Evaluator::automatic && only_by_rounds(schedule));
}

// Evaluates by the rounds that the schedule declares to be alike.
Prediction by_rounds(const collectives::Schedule& schedule, const Topology& topology, const Machine& machine, double bytes) {
  const AlikeRounds rounds(schedule, bytes, topology, machine);
  const auto seconds = [&](const Machine& m, bool alone) { return rounds.nanoseconds(m, alone) * 1e-9; };
  const double latency = seconds(without_bytes(machine), true), unqueued = seconds(machine, true), all = seconds(machine, false);
  return {.seconds = all,
          .evaluator = Evaluator::rounds,
          .breakdown = {.latency = latency, .bandwidth = unqueued - latency, .contention = all - unqueued},
          .noise = {},
          .contention = rounds.contention(),
          .depth = static_cast<int>(rounds.rounds()),
          .operations = 2 * rounds.messages(),
          .messages = rounds.messages(),
          .events = static_cast<std::int64_t>(rounds.kinds())};
}

void fits(std::int32_t ranks, const Topology& topology) {
  if (ranks != topology.nodes())
    throw collectives::Refused("the schedule has " + std::to_string(ranks) + " ranks and the network " + std::to_string(topology.nodes()) +
                               " nodes");
}

Prediction predicted(const Evaluation& evaluation, const Topology& topology, const Machine& machine, const Question& question) {
  const Plan& plan = evaluation.plan();
  Prediction p;
  p.contention = contention(plan, topology, machine);
  p.depth = plan.depth();
  p.operations = plan.operations();
  p.messages = plan.messages();
  Time quiet;
  std::optional<double> known;
  p.evaluator = question.evaluator;
  if (p.evaluator == Evaluator::automatic)
    p.evaluator = evaluation.choose(p.contention, question.noise, quiet, known);
  else
    quiet = evaluation.by(p.evaluator, {});
  p.events = quiet.events;
  p.seconds = quiet.nanoseconds * 1e-9;

  const Machine light = without_bytes(machine);
  const bool rounds = p.evaluator == Evaluator::rounds;
  const auto free = [&](const Machine& m) {
    return (rounds ? round_model(plan, topology, m, true) : max_plus(plan, topology, m, {})).nanoseconds * 1e-9;
  };
  const double unqueued = p.evaluator == Evaluator::maxplus ? p.seconds : known ? *known : free(machine);
  const double latency = weighs(plan, machine) ? free(light) : unqueued;
  const auto more = [](double with, double without) { return std::abs(with - without) <= 1e-12 * with ? 0 : with - without; };
  p.breakdown = {.latency = latency, .bandwidth = more(unqueued, latency), .contention = more(p.seconds, unqueued)};
  if (question.noise.present() && !rounds) {
    p.noise = noisy(evaluation, p.evaluator, question.noise, p.seconds);
    p.breakdown.noise = p.noise->median - p.seconds;
    p.seconds = p.noise->median;
  }
  return p;
}

}  // namespace

Prediction evaluate(const collectives::Schedule& schedule, const Topology& topology, const Machine& machine, const Question& question) {
  fits(schedule.ranks, topology);
  const double bytes = whole(schedule, question.bytes);
  if (wants_rounds(schedule, topology, question)) return by_rounds(schedule, topology, machine, bytes);
  const Who who = fl::network::who(schedule, topology, question);
  const Plan plan(schedule, bytes, who != Who::each);
  return predicted(Evaluation(plan, &schedule, bytes, who, topology, machine), topology, machine, question);
}

Prediction evaluate(const Plan& plan, const Topology& topology, const Machine& machine, const Question& question) {
  fits(plan.ranks(), topology);
  return predicted(Evaluation(plan, nullptr, 0, Who::each, topology, machine), topology, machine, question);
}

std::vector<double> loads(const collectives::Schedule& schedule, const Topology& topology, const Machine& machine,
                          const Question& question) {
  const double bytes = whole(schedule, question.bytes);
  if (wants_rounds(schedule, topology, question)) {
    const AlikeRounds rounds(schedule, bytes, topology, machine);
    return {rounds.loads().begin(), rounds.loads().end()};
  }
  const bool one = question.symmetry && !topology.rings() && representative(schedule, topology);
  return loads(Plan(schedule, bytes, one), topology);
}

const char* word(Evaluator evaluator) {
  constexpr const char* words[] = {"auto", "maxplus", "rounds", "events"};
  return words[static_cast<std::size_t>(evaluator)];
}

}  // namespace fl::network
