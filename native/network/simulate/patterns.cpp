#include "patterns.hpp"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>

#include "answer.hpp"
#include "firstlight/collectives/algorithm.hpp"
#include "firstlight/network/goal.hpp"
#include "firstlight/patterns/totals.hpp"
#include "json.hpp"
#include "stages.hpp"

namespace simulate {

namespace {

using fl::Index;
using fl::Json;
namespace pattern = fl::patterns;

constexpr double most_ranks = 1 << 24;
constexpr Index often = 15;  // messages of a run from one sender, from which on a receiver keeps more for it

void describe(Json& json, const pattern::Pattern& p) {
  json.open('{').member("pattern", p.name).member("title", p.title).member("applications", p.applications).member("source", p.source);
  json.key("parameters").open('[');
  for (const pattern::Parameter& each : p.parameters) {
    json.open('{').member("name", each.name).member("value", pattern::text_of(each, each.value)).member("means", each.means);
    json.member("least", Index{each.least}).member("most", Index{each.most}).key("words").open('[');
    for (const std::string& word : each.words) json.value(word);
    json.close(']').close('}');
  }
  json.close(']').close('}');
}

// Returns the number of processes: that of the nodes if only the network is given.
pattern::Rank processes(const Options& options) {
  const bool everywhere = !options.has("processes") && options.has("topology");
  const double ranks = everywhere ? topology(options.text("topology"), {})->nodes() : number("processes", options.text("processes"));
  if (ranks < 1 || ranks > most_ranks || ranks != static_cast<double>(static_cast<Index>(ranks)))
    throw Usage("--processes should be a number from 1 to " + std::to_string(static_cast<Index>(most_ranks)));
  return static_cast<pattern::Rank>(ranks);
}

struct Request {
  const pattern::Pattern& pattern;
  pattern::Values values;
  pattern::Instance instance;
};

Request request_of(const Options& options, const std::string& name) {
  const pattern::Pattern& p = pattern::find_pattern(name);
  std::vector<std::string> given = options.has("small") ? p.small : std::vector<std::string>{};
  if (const std::string more = options.text("parameters", ""); !more.empty())
    std::ranges::copy(split(more, ','), std::back_inserter(given));
  pattern::Values values = pattern::values_of(p, given);
  pattern::Instance made = pattern::instance_of(p, processes(options), values);
  return {p, std::move(values), std::move(made)};
}

void write_together(Json& json, const pattern::Instance& made, const pattern::Together& together) {
  // Groups may differ in size where the ranks do not divide; the first of each size speaks for it.
  Index groups = 0, least = 0, most = 0, bytes_least = 0, bytes_most = 0;
  for (pattern::Rank r = 0; r < made.ranks; ++r) {
    const pattern::Group g = together.group(r);
    if (g.first != r) continue;
    const Index bytes = together.bytes(g);
    least = groups == 0 ? g.count : std::min<Index>(least, g.count);
    bytes_least = groups == 0 ? bytes : std::min(bytes_least, bytes);
    most = std::max<Index>(most, g.count);
    bytes_most = std::max(bytes_most, bytes);
    ++groups;
  }
  json.key("together").open('{').member("collective", fl::collectives::word(together.collective)).member("groups", groups);
  json.key("members").open('[').value(least).value(most).close(']');
  json.key("bytes").open('[').value(bytes_least).value(bytes_most).close(']').close('}');
}

void write_phase(Json& json, const pattern::Instance& made, const pattern::Phase& phase, const pattern::Totals& t) {
  json.open('{').member("name", phase.name).member("repetitions", Index{phase.repetitions});
  json.member("messages", Index{t.messages}).member("bytes", Index{t.bytes}).member("own", Index{t.own});
  json.member("shortest", Index{t.shortest}).member("longest", Index{t.longest}).member("symmetric", t.symmetric);
  if (phase.collective())
    write_together(json, made, phase.together);
  else
    json.key("together").raw("null");
  json.close('}');
}

std::string shown(const Request& a) {
  Json json;
  json.open('{').member("pattern", a.pattern.name).member("title", a.pattern.title).member("applications", a.pattern.applications);
  json.member("source", a.pattern.source).member("processes", Index{a.instance.ranks}).member("iterations", Index{a.instance.iterations});
  json.key("parameters").open('{');
  for (const pattern::Parameter& p : a.pattern.parameters) json.member(p.name, pattern::text_of(p, a.values.find(p.name)->second));
  json.close('}').key("shape").open('[');
  for (const pattern::Rank extent : a.instance.shape) json.value(extent);
  json.close(']').key("phases").open('[');
  pattern::Overview all = pattern::overview(a.instance, often);
  for (std::size_t k = 0; k < a.instance.phases.size(); ++k) write_phase(json, a.instance, a.instance.phases[k], all.phases[k]);
  std::vector<pattern::Rank>& partners = all.partners;
  std::ranges::sort(partners);
  json.close(']').key("partners").open('[');
  for (const std::size_t at : {std::size_t{0}, partners.size() / 2, partners.size() - 1}) json.value(partners[at]);
  json.close(']').member("contacted", all.contacted).member("often", all.often);
  return json.close('}').text();
}

std::string pairs(const pattern::Instance& made, const pattern::Phase& phase) {
  Json json;
  json.open('{').member("name", phase.name).member("repetitions", Index{phase.repetitions}).key("pairs").open('[');
  for (pattern::Rank r = 0; r < made.ranks; ++r)
    for (const pattern::Pair& p : pattern::pairs(phase, r))
      json.open('[').value(Index{p.from}).value(Index{p.to}).value(Index{p.messages}).value(Index{p.bytes}).close(']');
  return json.close(']').close('}').text();
}

void line(const std::string& text) { std::cout << text << '\n'; }

// "allreduce=ring,broadcast=binomial"
Choices choices(const Options& options) {
  Choices chosen;
  if (options.text("algorithm", "").empty()) return chosen;
  for (const std::string& one : split(options.text("algorithm"), ',')) {
    const std::size_t sign = std::min(one.find('='), one.size());
    const auto collective = fl::collectives::collective_named(one.substr(0, sign));
    const fl::collectives::Algorithm* a = fl::collectives::find_algorithm(one.substr(std::min(sign + 1, one.size())));
    if (!collective || a == nullptr)
      throw Usage("--algorithm of a pattern: write COLLECTIVE=ALGORITHM, such as allreduce=ring, not '" + one + "'");
    chosen[*collective] = a;
  }
  return chosen;
}

std::string predicted(const Options& options, const std::string& name, const pattern::Instance& instance) {
  Task task;
  task.machine = machine(options);
  task.question = question(options);
  task.loads = options.has("loads");
  task.pattern = name;
  task.problem = {.collective = fl::collectives::Collective::other, .ranks = instance.ranks};
  task.topology = options.text("topology");
  const auto net = topology(task.topology, {});
  if (net->nodes() < instance.ranks)
    throw Usage(task.topology + " has " + std::to_string(net->nodes()) + " nodes, fewer than " + std::to_string(instance.ranks) +
                " processes");
  const Choices chosen = choices(options);
  return prediction(task, *net, [&] { return Iteration(instance, chosen, net->nodes(), net->shape(), net->open()); });
}

void write_goal(const Options& options, const Request& a) {
  std::ofstream file;
  if (options.has("output")) {
    file.open(options.text("output"), std::ios::binary);
    if (!file) throw Usage("cannot write " + options.text("output"));
  }
  std::ostream& out = options.has("output") ? file : std::cout;
  const auto net =
      options.has("topology") ? topology(options.text("topology"), {}) : topology("flat:" + std::to_string(a.instance.ranks), {});
  const Iteration iteration(a.instance, choices(options), net->nodes(), net->shape(), net->open());
  std::vector<std::int64_t> times;
  for (const pattern::Pass& pass : iteration.passes()) times.push_back(pass.times);
  fl::network::write_goal(iteration.schedule(times), 1, machine(options), out);
  if (!out.flush()) throw Usage("the schedule could not be written");
}

}  // namespace

void stages(const Options& options) {
  if (options.words().size() != 2) throw Usage("stages NAME --stages STAGES --topology SPEC");
  line(predicted(options, options.words()[1], instance_of_stages(options.text("stages"), processes(options))));
}

void patterns(const Options& options) {
  const std::vector<std::string>& words = options.words();
  if (words == std::vector<std::string>{"patterns"}) {
    for (const pattern::Pattern* p : pattern::all_patterns()) {
      Json json;
      describe(json, *p);
      line(json.text());
    }
    return;
  }
  if (words[0] != "pattern" || words.size() < 2 || words.size() > 3)
    throw Usage("patterns, or pattern NAME [pairs|check|predict|goal] --processes P");
  const Request a = request_of(options, words[1]);
  const std::string what = words.size() == 3 ? words[2] : "";
  if (what.empty()) {
    line(shown(a));
  } else if (what == "pairs") {
    for (const pattern::Phase& phase : a.instance.phases)
      if (!phase.collective()) line(pairs(a.instance, phase));
  } else if (what == "check") {
    Json json;
    line(json.open('{').member("why", pattern::unmatched(a.instance)).close('}').text());
  } else if (what == "predict") {
    line(predicted(options, a.pattern.name, a.instance));
  } else if (what == "goal") {
    write_goal(options, a);
  } else {
    throw Usage("pattern NAME pairs, check, predict or goal, not '" + what + "'");
  }
}

}  // namespace simulate
