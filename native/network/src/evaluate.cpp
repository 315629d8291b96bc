#include "firstlight/network/evaluate.hpp"

#include <algorithm>

namespace fl::network {

namespace {

constexpr double most_events = 2e8;  // about a minute

// The same network where bytes cost nothing.
Machine without_bytes(Machine m) {
  m.G = m.O = m.reduce = m.copy = 0;
  m.bandwidth = 1e300;
  m.S = 1e300;
  return m;
}

double events_wanted(const Plan& plan, const Topology& topology) {
  double events = static_cast<double>(plan.operations());
  std::vector<Link> way;
  for (const Step& s : plan.steps()) {
    if (s.kind != collectives::Kind::send || topology.links() == 0) continue;
    route(s, topology, way);
    events += s.segments * static_cast<double>(way.size() + 2);
  }
  return events;
}

struct Evaluation {
  const Plan& plan;
  const Topology& topology;
  const Machine& machine;
  bool flat = topology.links() == 0;

  Time by(Evaluator evaluator, const Interruptions& noise) const {
    if (evaluator == Evaluator::maxplus) return max_plus(plan, topology, machine, noise);
    if (evaluator == Evaluator::rounds) return round_model(plan, topology, machine, false);
    return flat ? loggops_events(plan, machine, noise) : link_events(plan, topology, machine, noise);
  }
  // The evaluator that is exact at the least cost, and what it says without noise.
  Evaluator choose(const Contention& contention, const Noise& noise, Time& quiet) const {
    if (!flat && contention.contention_free) {
      quiet = by(Evaluator::maxplus, {});
      return Evaluator::maxplus;
    }
    if (events_wanted(plan, topology) > most_events) {
      quiet = by(Evaluator::rounds, {});
      return Evaluator::rounds;
    }
    if (flat && !plan.representative() && !plan.trains() && !noise.present()) {
      quiet = by(Evaluator::maxplus, {});
      if (quiet.exact) return Evaluator::maxplus;
    }
    quiet = by(Evaluator::events, {});
    return Evaluator::events;
  }
};

Slowdown noisy(const Evaluation& e, Evaluator evaluator, const Noise& noise, double quiet) {
  std::vector<double> times;
  for (int run = 0; run < noise.runs; ++run) times.push_back(e.by(evaluator, Interruptions(noise, run)).nanoseconds * 1e-9);
  std::ranges::sort(times);
  const std::size_t half = times.size() / 2;
  const double median = times.size() % 2 == 1 ? times[half] : (times[half - 1] + times[half]) / 2;
  return {.median = median, .least = times.front(), .most = times.back(), .slowdown = quiet > 0 ? median / quiet : 1};
}

}  // namespace

Prediction evaluate(const collectives::Schedule& schedule, const Topology& topology, const Machine& machine, const Question& question) {
  if (schedule.ranks != topology.nodes())
    throw collectives::Refused("the schedule has " + std::to_string(schedule.ranks) + " ranks and the network " +
                               std::to_string(topology.nodes()) + " nodes");
  const bool one = question.symmetry && !question.noise.present() && representative(schedule, topology);
  const Plan plan(schedule, whole(schedule, question.bytes), one);
  const Evaluation evaluation{plan, topology, machine};
  Prediction p;
  p.contention = contention(plan, topology, machine);
  p.depth = plan.depth();
  p.operations = plan.operations();
  p.messages = plan.messages();
  Time quiet;
  p.evaluator = question.evaluator;
  if (p.evaluator == Evaluator::automatic)
    p.evaluator = evaluation.choose(p.contention, question.noise, quiet);
  else
    quiet = evaluation.by(p.evaluator, {});
  p.events = quiet.events;
  p.seconds = quiet.nanoseconds * 1e-9;

  const Machine light = without_bytes(machine);
  const bool rounds = p.evaluator == Evaluator::rounds;
  const double latency = (rounds ? round_model(plan, topology, light, true) : max_plus(plan, topology, light, {})).nanoseconds * 1e-9;
  const double free =
      p.evaluator == Evaluator::maxplus
          ? p.seconds
          : (rounds ? round_model(plan, topology, machine, true) : max_plus(plan, topology, machine, {})).nanoseconds * 1e-9;
  p.breakdown = {.latency = latency, .bandwidth = free - latency, .contention = p.seconds - free};
  if (question.noise.present() && !rounds) {
    p.noise = noisy(evaluation, p.evaluator, question.noise, p.seconds);
    p.breakdown.noise = p.noise->median - p.seconds;
    p.seconds = p.noise->median;
  }
  return p;
}

const char* word(Evaluator evaluator) {
  constexpr const char* words[] = {"auto", "maxplus", "rounds", "events"};
  return words[static_cast<std::size_t>(evaluator)];
}

}  // namespace fl::network
