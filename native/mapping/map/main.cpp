// firstlight-map: a rank map for a pattern on a network. Prints JSON lines: progress as {"best": ...}, then the answer.
// Interrupted (SIGINT, SIGTERM) it ends the search, and answers with the best so far; the status is 130 then.
#include <algorithm>
#include <atomic>
#include <csignal>
#include <iostream>

#include "firstlight/mapping/timing.hpp"
#include "json.hpp"
#include "named.hpp"
#include "options.hpp"

namespace {

using namespace fl::mapping;
using fl::Json;

std::atomic<bool> wanted{false};
static_assert(std::atomic<bool>::is_always_lock_free);

constexpr std::size_t worst_links = 10;
constexpr int bars = 40;
constexpr Slot blocks = 64;  // along a side of the matrix that is shown

void write_cost(Json& json, const Cost& cost) {
  json.member("maxima", static_cast<fl::Index>(cost.maxima)).member("hop_bytes", static_cast<fl::Index>(cost.hop_bytes));
}

// Prints the line when the map is complete in its file: whatever happens afterwards, the file has the reported map.
void progress(const Found& best, double seconds, const std::string& keep) {
  if (!keep.empty()) map::write_map(keep, best.map);
  Json json;
  json.open('{').member("best", best.by);
  write_cost(json, best.cost);
  json.member("seconds", seconds).close('}');
  std::cout << json.text() + "\n" << std::flush;
}

// Bytes between blocks of slots, as [from, to, bytes].
void write_matrix(Json& json, const Pattern& pattern, const Places& places, const Map& map) {
  const Slot size = (places.slots() + blocks - 1) / blocks;
  std::vector<fl::Index> sums(static_cast<std::size_t>(blocks) * blocks, 0);
  const auto block = [&](Rank r) { return map[static_cast<std::size_t>(r)] / size; };
  for (const Message& m : pattern.messages()) sums[static_cast<std::size_t>(block(m.from) * blocks + block(m.to))] += m.bytes;
  json.member("block", static_cast<fl::Index>(size)).key("matrix").open('[');
  for (std::size_t i = 0; i < sums.size(); ++i)
    if (sums[i] > 0)
      json.open('[').value(static_cast<fl::Index>(i / blocks)).value(static_cast<fl::Index>(i % blocks)).value(sums[i]).close(']');
  json.close(']');
}

// All phases of a map: the load of the busiest link of each, how loads of all links are spread, and the worst links of all.
void write_side(Json& json, const Pattern& pattern, const Places& places, Loads& loads, const Found& found, const std::string& machine,
                bool simulate) {
  loads.place(found.map);
  json.open('{').member("by", found.by);
  write_cost(json, loads.cost());
  json.key("phases").open('[');
  for (std::size_t p = 0; p < pattern.phases(); ++p) json.value(static_cast<fl::Index>(loads.most(p)));
  json.close(']');
  std::vector<Bytes> total(static_cast<std::size_t>(places.links()), 0);
  for (std::size_t p = 0; p < pattern.phases(); ++p)
    for (std::size_t l = 0; l < total.size(); ++l) total[l] += loads.loads(p)[l];
  const Bytes most = *std::max_element(total.begin(), total.end());
  std::vector<fl::Index> spread(bars, 0);
  fl::Index idle = 0;
  std::vector<Link> order;
  for (std::size_t l = 0; l < total.size(); ++l) {
    if (total[l] > 0)
      ++spread[static_cast<std::size_t>(std::min<double>(bars - 1, static_cast<double>(total[l]) * bars / static_cast<double>(most)))];
    else if (places.exists(static_cast<Link>(l)))
      ++idle;
    if (total[l] > 0) order.push_back(static_cast<Link>(l));
  }
  json.member("most", static_cast<fl::Index>(most)).member("idle", idle).key("spread").open('[');
  for (const fl::Index n : spread) json.value(n);
  json.close(']').key("worst").open('[');
  const auto load = [&total](Link l) { return total[static_cast<std::size_t>(l)]; };
  const std::size_t shown = std::min(worst_links, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown), order.end(),
                    [&load](Link a, Link b) { return load(a) != load(b) ? load(a) > load(b) : a < b; });
  for (std::size_t i = 0; i < shown; ++i)
    json.open('{').member("link", places.describe(order[i])).member("bytes", static_cast<fl::Index>(load(order[i]))).close('}');
  json.close(']');
  write_matrix(json, pattern, places, found.map);
  const fl::network::Machine costs = fl::network::machine_of(machine);
  json.member("bound_seconds", bounded(loads.cost(), costs));
  if (simulate && !wanted) {
    const Timed timed = simulated(pattern, places, found.map, costs, wanted);
    json.member("seconds", timed.seconds).member("flowing_seconds", timed.flowing).key("phase_seconds").open('[');
    for (const double t : timed.phases) json.value(t);
    json.close(']');
  }
  json.close('}');
}

// Returns the best map by links or the one with the least sum of maxima, whichever the simulation of events shows to be faster: it models
// messages that wait in chains. Without a simulation, or if links decide, returns the map with the least sum of maxima.
Found chosen(const Searched& found, const Pattern& pattern, const Places& places, const map::Task& task) {
  if (found.least.map == found.best.map) return found.best;
  if (!task.simulate || task.by_links || wanted) return found.least;
  const fl::network::Machine costs = fl::network::machine_of(task.machine);
  const auto seconds = [&](const Found& f) { return simulated(pattern, places, f.map, costs, wanted).seconds; };
  return seconds(found.least) <= seconds(found.best) ? found.least : found.best;
}

int run(const map::Task& task) {
  static_cast<void>(fl::network::machine_of(task.machine));
  const map::Named given = task.named.empty() ? map::Named{read_pattern(map::contents(task.pattern)), {}}
                                              : map::named(task.named, task.processes, task.parameters, task.small, task.whole);
  const Pattern& pattern = given.pattern;
  const Places places(task.ground);
  Searched found;
  if (task.given.empty()) {
    found =
        search(pattern, places, task.effort, wanted, [&task](const Found& best, double seconds) { progress(best, seconds, task.keep); });
  } else {
    found.before.map = identity(pattern, places);
    found.best.map = map::read_map(map::contents(task.given));
    found.best.by = "given";
    check(found.best.map, pattern, places);
    found.least = found.best;
  }
  const bool interrupted = wanted;
  const Found after = chosen(found, pattern, places, task);
  Json json;
  json.open('{').member("ranks", static_cast<fl::Index>(pattern.ranks())).member("nodes", static_cast<fl::Index>(places.network().nodes()));
  json.member("per_node", static_cast<fl::Index>(places.per_node())).member("links", static_cast<fl::Index>(places.existing()));
  json.member("bytes", static_cast<fl::Index>(pattern.bytes())).member("proved", found.proved).member("in_time", found.in_time);
  json.member("starts", found.starts).member("interrupted", interrupted);
  if (after.map != found.least.map) json.member("least", static_cast<fl::Index>(found.least.cost.maxima));
  json.key("names").open('[');
  for (std::size_t p = 0; p < pattern.phases(); ++p) json.value(pattern.name(p));
  json.close(']');
  json.key("left_out").open('[');
  for (const std::string& name : given.left_out) json.value(name);
  json.close(']');
  Loads loads(pattern, places);
  write_side(json.key("before"), pattern, places, loads, found.before, task.machine, task.simulate);
  write_side(json.key("after"), pattern, places, loads, after, task.machine, task.simulate);
  json.key("axes").open('[');
  for (const Node e : places.network().shape()) json.value(e);
  json.close(']').key("places").open('[');
  for (const Slot s : after.map) json.value(s);
  json.close(']').key("identity").open('[');
  for (const Slot s : found.before.map) json.value(s);
  json.close(']').key("map").open('[');  // node and place of each rank
  for (const Slot s : after.map) json.open('[').value(places.node(s)).value(s % places.per_node()).close(']');
  json.close(']').close('}');
  std::cout << json.text() + "\n" << std::flush;
  return interrupted ? 130 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  for (const int number : {SIGINT, SIGTERM}) std::signal(number, [](int) { wanted = true; });
  try {
    return run(map::task_of(argc, argv));
  } catch (const std::exception& error) {
    std::cerr << "firstlight-map: " << error.what() << '\n';
    return 2;
  }
}
