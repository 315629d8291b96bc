// The time of a schedule on a network.
//
//   maxplus   every operation as soon as what it waits for is done; links and interfaces never queue. Exact where contention() proves
//             that they need not.
//   rounds    sum over rounds of one latency and the bytes of the busiest link or node: a bound for schedules of rounds, for sizes that
//             are too large for events; if the schedule declares which rounds are alike, one of them is looked at for all.
//   events    discrete events with queues at links, interfaces and processors.
#pragma once

#include <optional>

#include "firstlight/network/contention.hpp"
#include "firstlight/network/machine.hpp"
#include "firstlight/network/plan.hpp"
#include "firstlight/network/topology.hpp"

namespace fl::network {

enum class Evaluator : std::uint8_t { automatic, maxplus, rounds, events };

// Where the time goes, in seconds; the sum is the time that was predicted. Differences of evaluations, from the one without to the one
// with: latency is the time of messages without bytes that never queue, bandwidth what bytes add, contention what queues add, noise
// what interruptions add. The round model has no queues: there contention is what sharing a link adds to a link of one's own.
struct Breakdown {
  double latency = 0, bandwidth = 0, contention = 0, noise = 0;
};

struct Slowdown {
  double median = 0, least = 0, most = 0;  // seconds
  double slowdown = 1;                     // median over the time without noise
};

struct Prediction {
  double seconds = 0;
  Evaluator evaluator = Evaluator::automatic;  // the one that was used
  Breakdown breakdown;
  std::optional<Slowdown> noise;
  Contention contention;
  int depth = 0;  // messages that wait for one another; by rounds that are alike, the number of rounds
  std::int64_t operations = 0;
  std::int64_t messages = 0;
  std::int64_t events = 0;
};

struct Question {
  double bytes = 0;  // as whole() accepts them
  Evaluator evaluator = Evaluator::automatic;
  Noise noise;
  bool symmetry = true;  // let one rank stand for all where they look alike
};

// Raises collectives::Refused for what cannot be evaluated.
Prediction evaluate(const collectives::Schedule& schedule, const Topology& topology, const Machine& machine, const Question& question);
// Evaluates a plan of all ranks; question.bytes and symmetry are not used. Raises Endless where messages above Machine::S wait for ever.
Prediction evaluate(const Plan& plan, const Topology& topology, const Machine& machine, const Question& question);

// Bytes that cross each link, by its index.
std::vector<double> loads(const collectives::Schedule& schedule, const Topology& topology, const Machine& machine,
                          const Question& question);

// The evaluators themselves; nanoseconds. `exact`: whether queues would not have changed it (flat networks; false where not known).
struct Time {
  double nanoseconds = 0;
  std::int64_t events = 0;
  bool exact = false;
};
Time max_plus(const Plan& plan, const Topology& topology, const Machine& machine, const Interruptions& noise);
// The same for all ranks of a representative plan, each at times of its own; without links, trains and copies, and with cyclic symmetry
// or that of exclusive or.
Time each_rank(const collectives::Schedule& schedule, const Plan& plan, const Machine& machine, const Interruptions& noise);
Time round_model(const Plan& plan, const Topology& topology, const Machine& machine, bool alone);  // alone: as if links were not shared
Time link_events(const Plan& plan, const Topology& topology, const Machine& machine, const Interruptions& noise);
Time loggops_events(const Plan& plan, const Machine& machine, const Interruptions& noise);

const char* word(Evaluator evaluator);

}  // namespace fl::network
