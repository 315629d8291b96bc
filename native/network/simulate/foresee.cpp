#include "foresee.hpp"

#include <algorithm>
#include <numeric>

namespace simulate {

namespace {

namespace network = fl::network;
using Times = std::vector<std::int64_t>;

constexpr double most_operations = 2e6;  // in one go, about a second

network::Plan plan_of(const Iteration& iteration, const Times& times) { return {iteration.schedule(times), 1, false}; }

// How often each pass is looked at: as often as it is executed where that is not too much, else each up to the same number, at least once.
Times looked_at(const Iteration& iteration, const Times& whole) {
  const std::vector<double> each = iteration.operations();
  const auto cut = [&](std::int64_t most) {
    Times times = whole;
    for (std::int64_t& t : times) t = std::min(t, most);
    return times;
  };
  std::int64_t low = 1, high = std::max<std::int64_t>(1, whole.empty() ? 1 : std::ranges::max(whole));
  while (low < high) {  // the largest number that is not too much
    const std::int64_t middle = low + (high - low + 1) / 2;
    const Times times = cut(middle);
    const double all = std::inner_product(times.begin(), times.end(), each.begin(), 0.0, std::plus<>(),
                                          [](std::int64_t t, double operations) { return static_cast<double>(t) * operations; });
    (all <= most_operations ? low : high) = all <= most_operations ? middle : middle - 1;
  }
  return cut(low);
}

// Adds `more` times what p has beyond less.
void extend(network::Prediction& sum, const network::Prediction& p, const network::Prediction& less, std::int64_t more) {
  const auto times = static_cast<double>(more);
  const auto add = [times](double& to, double with, double without) { to += times * (with - without); };
  add(sum.seconds, p.seconds, less.seconds);
  add(sum.breakdown.latency, p.breakdown.latency, less.breakdown.latency);
  add(sum.breakdown.bandwidth, p.breakdown.bandwidth, less.breakdown.bandwidth);
  add(sum.breakdown.contention, p.breakdown.contention, less.breakdown.contention);
  sum.operations += more * (p.operations - less.operations);
  sum.messages += more * (p.messages - less.messages);
  sum.depth += static_cast<int>(more) * (p.depth - less.depth);
}

}  // namespace

Foreseen foresee(const Iteration& iteration, const network::Topology& topology, const network::Machine& machine,
                 const network::Question& question) {
  Times whole;
  for (const auto& pass : iteration.passes()) whole.push_back(pass.times);
  const Times now = looked_at(iteration, whole);
  if (now != whole && question.noise.present())
    throw fl::collectives::Refused("an iteration of this many operations is too large for noise; use fewer processes");
  Foreseen all;
  const network::Plan plan = plan_of(iteration, now);
  const network::Prediction p = network::evaluate(plan, topology, machine, question);
  all.prediction = p;
  all.stuck = network::stuck(plan);
  for (std::size_t k = 0; k < whole.size(); ++k) {
    all.passes += whole[k];
    all.evaluated += now[k];
    Times other(whole.size(), 0);
    other[k] = 1;
    const network::Plan one = plan_of(iteration, other);
    const auto times = static_cast<double>(whole[k]);
    for (const network::Step& s : one.steps()) {
      if (s.kind != fl::collectives::Kind::send) continue;
      all.bytes += times * s.bytes;
      all.sizes.insert(s.bytes);
    }
    const std::vector<double> loads = network::loads(one, topology);
    all.loads.resize(loads.size(), 0);
    for (std::size_t l = 0; l < loads.size(); ++l) all.loads[l] += times * loads[l];
    if (now[k] == whole[k]) continue;
    other = now;
    --other[k];
    extend(all.prediction, p, network::evaluate(plan_of(iteration, other), topology, machine, question), whole[k] - now[k]);
  }
  all.loads.resize(static_cast<std::size_t>(topology.links()), 0);
  return all;
}

}  // namespace simulate
