#include "answer.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <optional>

#include "firstlight/collectives/checker.hpp"
#include "foresee.hpp"
#include "json.hpp"

namespace simulate {

namespace {

using fl::Json;
using fl::collectives::Schedule;
namespace collectives = fl::collectives;
namespace network = fl::network;

constexpr std::size_t most_bins = 64;
constexpr std::size_t most_named = 4;               // of the busiest links
constexpr double most_unqueued = 1e8;               // segments of an evaluation without queues, a few seconds
constexpr double most_queued = 3e7;                 // segments of one with queues, and links that they cross, likewise
constexpr double most_tried = 2e5;                  // segments of one with queues to choose among several, a tenth of a second
constexpr std::int64_t few_operations = 5'000'000;  // are proved right on the way, in less than a second

Schedule with(const Task& task, std::int32_t segments) {
  collectives::Problem problem = task.problem;
  problem.segments = segments;
  return collectives::schedule(*task.algorithm, problem);
}

std::int32_t bounded(double segments, double bytes) {
  return static_cast<std::int32_t>(std::clamp(std::floor(segments + 0.5), 1.0, std::clamp(bytes, 1.0, 65536.0)));
}

// The number of segments at which a chain of `depth` is fastest, and its neighbours; no more than can be evaluated in seconds. Where
// there are queues and they would take too long, the evaluation without them chooses.
std::int32_t best_segments(const Task& task, const network::Topology& topology, const Schedule& one, double piece) {
  const bool flat = topology.links() == 0;
  const double bytes = network::whole(one, task.question.bytes);
  const auto planned = [&](const Schedule& s) {
    return network::Plan(s, bytes, task.question.symmetry && network::representative(s, topology));
  };
  const network::Plan whole = planned(one);
  network::Question quiet = task.question;
  quiet.noise = {};
  const network::Contention contention = network::contention(whole, topology, task.machine);
  const bool queues = !contention.contention_free;
  const auto steps = static_cast<double>(whole.steps().size());
  const double most = std::floor(queues ? most_queued / (steps + contention.crossings) : most_unqueued / steps);
  const double each = flat ? std::max(task.machine.o, task.machine.g) : task.machine.overhead;
  const double stream = flat ? task.machine.cost(piece).receive - task.machine.o : task.machine.stream(piece);
  if (each <= 0 || whole.depth() < 2 || stream <= 0) return 1;
  const double ideal = std::sqrt((whole.depth() - 1) * stream / each);
  const bool queued = queues && static_cast<double>(whole.operations()) * 2 * ideal <= most_tried;
  const auto time = [&](const Schedule& s) {
    return queued ? 1e9 * network::evaluate(s, topology, task.machine, quiet).seconds
                  : network::max_plus(planned(s), topology, task.machine, {}).nanoseconds;
  };
  double least = time(one);
  std::int32_t best = 1;
  for (const double factor : {0.25, 0.5, 1.0, 2.0}) {
    const std::int32_t k = bounded(std::min(ideal * factor, most), piece);
    if (k == 1 || k == best) continue;
    const double now = time(with(task, k));
    if (now < least) {
      least = now;
      best = k;
    }
  }
  return best;
}

void write_verdict(Json& json, const collectives::Verdict* v, const network::Contention* c) {
  json.key("verdict").open('{');
  const auto truth = [&](const char* name, const bool* value) {
    json.key(name);
    value == nullptr ? json.raw("null") : json.value(*value);
  };
  truth("correct", v ? &v->correct : nullptr);
  truth("deadlock_free", v ? &v->deadlock_free : nullptr);
  truth("race_free", v ? &v->race_free : nullptr);
  truth("link_disjoint", c ? &c->link_disjoint : nullptr);
  truth("contention_free", c ? &c->contention_free : nullptr);
  json.member("max_load", c ? c->max_load : 0).member("links_used", c ? c->links_used : 0);
  const std::string wrong = v ? v->why : "";
  json.member("why", !wrong.empty() ? wrong : c ? c->why : "").close('}');
}

// The links that carry most, of equals those that come first.
std::vector<network::Link> busiest(const std::vector<double>& loads, const network::Topology& topology) {
  std::vector<network::Link> links;
  for (network::Link l = 0; l < topology.links(); ++l)
    if (topology.exists(l) && loads[static_cast<std::size_t>(l)] > 0) links.push_back(l);
  const std::size_t many = std::min(most_named, links.size());
  const auto load = [&](network::Link l) { return std::pair(-loads[static_cast<std::size_t>(l)], l); };
  std::ranges::partial_sort(links, links.begin() + static_cast<std::ptrdiff_t>(many), {}, load);
  links.resize(many);
  return links;
}

void write_loads(Json& json, const std::vector<double>& loads, const network::Topology& topology) {
  const std::vector<std::string> kinds = topology.kinds();
  struct Kind {
    double most = 0, sum = 0;
    std::int64_t count = 0, used = 0;
  };
  std::vector<Kind> of(kinds.size());
  std::map<double, std::int64_t> histogram;
  const double most = loads.empty() ? 0 : *std::ranges::max_element(loads);
  std::int64_t links = 0, used = 0;
  for (network::Link l = 0; l < topology.links(); ++l) {
    if (!topology.exists(l)) continue;
    const double load = loads[static_cast<std::size_t>(l)];
    Kind& k = of[static_cast<std::size_t>(topology.kind(l))];
    k.most = std::max(k.most, load);
    k.sum += load;
    ++k.count, ++links, used += load > 0, k.used += load > 0;
    ++histogram[std::round(load)];
  }
  if (histogram.size() > most_bins) {  // bins of equal width, each named by its upper end
    std::map<double, std::int64_t> bins;
    for (const auto& [load, count] : histogram) bins[load <= 0 ? 0 : std::ceil(load / most * most_bins) * most / most_bins] += count;
    histogram = std::move(bins);
  }
  json.key("loads").open('{').member("links", links).member("used", used).member("most", most).key("histogram").open('[');
  for (const auto& [load, count] : histogram) json.open('[').value(load).value(count).close(']');
  json.close(']').key("axes").open('[');
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    if (of[k].count == 0) continue;
    json.open('{')
        .member("axis", kinds[k])
        .member("most", of[k].most)
        .member("mean", of[k].used > 0 ? of[k].sum / static_cast<double>(of[k].used) : 0.0);
    json.member("used", of[k].used).member("links", of[k].count).close('}');
  }
  json.close(']').key("worst").open('[');
  for (const network::Link l : busiest(loads, topology))
    json.open('[').value(topology.describe(l)).value(loads[static_cast<std::size_t>(l)]).close(']');
  json.close(']').close('}');
}

void write_prediction(Json& json, const network::Prediction& p) {
  json.member("seconds", p.seconds).member("depth", p.depth).member("operations", p.operations).member("messages", p.messages);
  json.member("evaluator", network::word(p.evaluator)).member("events", p.events);
  json.key("breakdown").open('{').member("latency", p.breakdown.latency).member("bandwidth", p.breakdown.bandwidth);
  json.member("contention", p.breakdown.contention).member("noise", p.breakdown.noise).close('}').key("noise");
  if (p.noise) {
    json.open('{').member("median", p.noise->median).member("least", p.noise->least).member("most", p.noise->most);
    json.member("slowdown", p.noise->slowdown).close('}');
  } else {
    json.raw("null");
  }
}

Json& begin(Json& json, const Task& task, const network::Topology& topology) {
  json.open('{').member("algorithm", task.algorithm ? task.algorithm->name : task.pattern.empty() ? "goal" : task.pattern.c_str());
  json.member("collective", collectives::word(task.algorithm ? task.problem.collective : collectives::Collective::other));
  return json.member("topology", task.topology).member("ranks", fl::Index{task.pattern.empty() ? topology.nodes() : task.problem.ranks});
}

// The checker's verdict. Nothing where the proof was not demanded and needs more time or memory than a prediction may.
std::optional<collectives::Verdict> proof(const Task& task, const Schedule& made, std::int64_t operations) {
  if (task.check == Task::Check::always) return collectives::check(made);
  if (task.check == Task::Check::never || operations > few_operations) return std::nullopt;
  try {
    return collectives::check(made);
  } catch (const collectives::Refused&) {
    return std::nullopt;
  }
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Calls write(json), which writes the answer to the task. A refusal is an answer, too.
std::string answered(const Task& task, const network::Topology& topology, const auto& write) {
  const auto start = std::chrono::steady_clock::now();
  Json json;
  const auto begun = [&]() -> Json& {
    json = Json();
    return begin(json, task, topology).member("bytes", task.question.bytes);
  };
  try {
    write(begun());
    json.member("refused", "");
  } catch (const network::Endless& endless) {
    const collectives::Verdict never{.why = endless.what()};
    write_verdict(begun().member("refused", ""), &never, nullptr);
  } catch (const collectives::Refused& refused) {
    begun().member("refused", refused.what());
  } catch (const network::Unroutable& refused) {
    begun().member("refused", refused.what());
  }
  return json.member("wall_seconds", seconds_since(start)).close('}').text();
}

Json& write_machine(Json& json, const Task& task, const network::Topology& topology, std::int32_t segments) {
  return json.member("segments", segments).member("machine", network::text_of(task.machine, topology.links() > 0));
}

}  // namespace

std::string list() {
  std::string lines;
  for (const collectives::Algorithm* a : collectives::all_algorithms()) {
    Json json;
    json.open('{').member("algorithm", a->name).member("title", a->title).member("source", a->source).key("collectives").open('[');
    for (const collectives::Form& f : a->forms)
      if (f.schedule != nullptr) json.value(collectives::word(f.collective));
    json.close(']').member("pipelined", a->pipelined).member("torus", a->torus).member("holes", a->holes).close('}');
    lines += json.text() + "\n";
  }
  return lines;
}

Schedule schedule(const Task& task, const network::Topology& topology) {
  if (!task.algorithm->pipelined) return with(task, 1);
  if (task.segments > 0) return with(task, task.segments);
  const Schedule one = with(task, 1);
  if (one.chunks == 0) return one;
  const double piece = network::whole(one, task.question.bytes) / static_cast<double>(one.chunks);
  if (task.segment_bytes > 0) return with(task, bounded(std::ceil(piece / task.segment_bytes), piece));
  return with(task, best_segments(task, topology, one, piece));
}

std::string prediction(const Task& task, const network::Topology& topology) {
  return answered(task, topology, [&](Json& json) {
    const Schedule made = schedule(task, topology);
    const network::Prediction p = network::evaluate(made, topology, task.machine, task.question);
    std::int32_t segments = 1;
    collectives::Program program;
    for (const collectives::Rank r : {0, made.ranks - 1}) {
      program.clear();
      made.program(r, program);
      for (const collectives::Operation& o : program.operations()) segments = std::max(segments, o.range.segments);
    }
    write_machine(json, task, topology, segments);
    write_prediction(json, p);
    const std::optional<collectives::Verdict> v = proof(task, made, p.operations);
    write_verdict(json, v ? &*v : nullptr, &p.contention);
    if (task.loads) write_loads(json, network::loads(made, topology, task.machine, task.question), topology);
  });
}

// GOAL has the lengths of messages, not their contents: only that messages match and no rank waits for ever can be proved, and always is.
std::string prediction(network::Listing listing, const Task& task, const network::Topology& topology) {
  return answered(task, topology, [&](Json& json) {
    const bool named = std::ranges::any_of(listing.steps, [](const network::Step& s) { return s.nic != 0; });
    const network::Plan plan(std::move(listing));
    const network::Prediction p = network::evaluate(plan, topology, task.machine, task.question);
    write_machine(json, task, topology, 1);
    write_prediction(json, p);
    json.member("any_interface", named && topology.links() > 0);
    json.member("mismatches", fl::Index{plan.mismatches()}).member("mismatch", plan.mismatch());
    const std::string stuck = network::stuck(plan);
    const collectives::Verdict v{.correct = true, .deadlock_free = stuck.empty(), .race_free = true, .why = stuck};
    write_verdict(json, &v, &p.contention);
    if (task.loads) write_loads(json, network::loads(plan, topology), topology);
  });
}

std::string prediction(const Task& task, const network::Topology& topology, const std::function<Iteration()>& made) {
  return answered(task, topology, [&](Json& json) {
    const Iteration iteration = made();
    const Foreseen all = foresee(iteration, topology, task.machine, task.question);
    write_machine(json, task, topology, 1);
    write_prediction(json, all.prediction);
    json.member("sent", all.bytes).member("passes", fl::Index{all.passes}).member("evaluated", fl::Index{all.evaluated});
    json.key("sizes").open('[');
    for (const double size : all.sizes) json.value(size);
    json.close(']').key("carried").open('[');
    for (const Carried& c : iteration.carried())
      json.open('{')
          .member("phase", c.phase)
          .member("collective", collectives::word(c.collective))
          .member("members", fl::Index{c.members})
          .member("bytes", fl::Index{c.bytes})
          .member("algorithm", c.algorithm)
          .close('}');
    json.close(']');
    const collectives::Verdict v{.correct = true, .deadlock_free = all.stuck.empty(), .race_free = true, .why = all.stuck};
    write_verdict(json, &v, &all.prediction.contention);
    if (task.loads) write_loads(json, all.loads, topology);
  });
}

std::string verdict(const Task& task, const network::Topology& topology) {
  Json json;
  begin(json, task, topology);
  try {
    const Schedule made = schedule(task, topology);
    const collectives::Verdict v = collectives::check(made);
    const network::Contention c = network::contention(made, topology, task.machine, task.question.bytes);
    json.member("operations", v.operations).member("messages", v.messages).member("segments_sent", v.segments_sent);
    json.member("depth", v.depth).member("rounds", v.rounds).member("in_rounds", v.in_rounds).member("by_symmetry", v.by_symmetry);
    write_verdict(json, &v, &c);
    json.member("refused", "");
  } catch (const std::runtime_error& refused) {
    json = Json();
    begin(json, task, topology).member("refused", refused.what());
  }
  return json.close('}').text();
}

}  // namespace simulate
