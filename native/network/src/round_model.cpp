// The round model: each round costs one latency, and the bytes of its busiest link, or of its busiest node over the interfaces.
#include <algorithm>

#include "firstlight/network/evaluate.hpp"
#include "rounds.hpp"

namespace fl::network {

using collectives::Kind;

double Round::cost(const Machine& machine, bool linked, bool alone) const {
  const double most = alone ? longest : busiest, work = combined * machine.reduce;
  if (linked) return machine.overhead + static_cast<double>(hops) * machine.hop + machine.stream(most) + work;
  return machine.o + machine.L + machine.cost(most).receive + work;
}

Busiest::Busiest(const Topology& topology, const Machine& machine, std::size_t nodes, bool representative)
    : topology_(topology),
      representative_(representative),
      share_(topology.links() > 0 ? 1.0 / machine.interfaces : 1),
      load_(representative ? topology.kinds().size() : static_cast<std::size_t>(topology.links()), 0),
      sent_(nodes, 0),
      received_(nodes, 0) {}

Time round_model(const Plan& plan, const Topology& topology, const Machine& machine, bool alone) {
  const auto steps = plan.steps();
  const auto sent = [&](const Step& s) {
    const auto added = [&](Index f) { return steps[f].kind == Kind::combine; };
    return Sent{s.rank, s.peer, s.bytes, std::ranges::any_of(plan.frees(steps[s.match]), added)};
  };
  std::vector<Index> sends;
  for (Index i = 0; i < steps.size(); ++i)
    if (steps[i].kind == Kind::send) sends.push_back(i);
  std::ranges::stable_sort(sends, {}, [&](Index i) { return steps[i].round; });
  Busiest busiest(topology, machine, static_cast<std::size_t>(plan.ranks()), plan.representative());
  std::vector<Index> going;
  std::vector<Sent> messages;
  Time total;
  std::size_t next = 0;
  for (std::int64_t round = 0; next < sends.size() || !going.empty(); ++round) {
    if (going.empty()) round = steps[sends[next]].round;
    while (next < sends.size() && steps[sends[next]].round <= round) going.push_back(sends[next++]);
    messages.clear();
    for (const Index i : going) messages.push_back(sent(steps[i]));
    total.nanoseconds += busiest.of(messages).cost(machine, topology.links() > 0, alone);
    total.events += static_cast<std::int64_t>(going.size());
    std::erase_if(going, [&](Index i) { return steps[i].round + steps[i].segments - 1 <= round; });
  }
  return total;
}

}  // namespace fl::network
