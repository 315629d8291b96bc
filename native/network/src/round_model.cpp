// The round model: each round costs one latency, and the bytes of its busiest link, or of its busiest node over the interfaces.
#include <algorithm>

#include "firstlight/network/evaluate.hpp"

namespace fl::network {

namespace {

using collectives::Kind;

class Rounds {
 public:
  Rounds(const Plan& plan, const Topology& topology, const Machine& machine, bool alone)
      : plan_(plan), topology_(topology), machine_(machine), alone_(alone), linked_(topology.links() > 0) {
    const auto links = plan.representative() ? topology.kinds().size() : static_cast<std::size_t>(topology.links());
    load_.resize(links, 0);
    sent_.resize(static_cast<std::size_t>(plan.ranks()), 0);
    received_.resize(sent_.size(), 0);
  }

  Time run() {
    std::vector<Index> sends, going;
    for (Index i = 0; i < plan_.steps().size(); ++i)
      if (plan_.steps()[i].kind == Kind::send) sends.push_back(i);
    std::ranges::stable_sort(sends, {}, [this](Index i) { return plan_.steps()[i].round; });
    Time total;
    std::size_t next = 0;
    for (std::int64_t round = 0; next < sends.size() || !going.empty(); ++round) {
      if (going.empty()) round = plan_.steps()[sends[next]].round;
      while (next < sends.size() && plan_.steps()[sends[next]].round <= round) going.push_back(sends[next++]);
      total.nanoseconds += cost(going);
      total.events += static_cast<std::int64_t>(going.size());
      std::erase_if(going, [&](Index i) { return plan_.steps()[i].round + plan_.steps()[i].segments - 1 <= round; });
    }
    return total;
  }

 private:
  double cost(const std::vector<Index>& going);

  const Plan& plan_;
  const Topology& topology_;
  const Machine& machine_;
  bool alone_, linked_;
  std::vector<double> load_, sent_, received_;  // of the round at hand
  std::vector<Link> way_, used_;
};

double Rounds::cost(const std::vector<Index>& going) {
  double most = 0, reduced = 0;
  std::size_t hops = 0;
  const auto add = [&most](double& sum, double bytes, double share) {
    sum += bytes;
    most = std::max(most, sum * share);
  };
  used_.clear();
  const double share = linked_ ? 1.0 / machine_.interfaces : 1;
  for (const Index i : going) {
    const Step& s = plan_.steps()[i];
    route(s, topology_, way_);
    hops = std::max(hops, way_.size());
    most = std::max(most, s.bytes);
    for (const Index f : plan_.frees(plan_.steps()[s.match]))
      if (plan_.steps()[f].kind == Kind::combine) reduced = std::max(reduced, s.bytes);
    if (alone_) continue;
    for (const Link link : way_) {
      const Link place = plan_.representative() ? topology_.kind(link) : link;
      used_.push_back(place);
      add(load_[static_cast<std::size_t>(place)], s.bytes, 1);
    }
    add(sent_[static_cast<std::size_t>(s.rank)], s.bytes, share);
    add(received_[plan_.representative() ? 0 : static_cast<std::size_t>(s.peer)], s.bytes, share);
  }
  for (const Link place : used_) load_[static_cast<std::size_t>(place)] = 0;
  for (const Index i : going) {
    sent_[static_cast<std::size_t>(plan_.steps()[i].rank)] = 0;
    received_[plan_.representative() ? 0 : static_cast<std::size_t>(plan_.steps()[i].peer)] = 0;
  }
  const double work = reduced * machine_.reduce;
  if (linked_) return machine_.overhead + static_cast<double>(hops) * machine_.hop + machine_.stream(most) + work;
  return 2 * machine_.o + machine_.L + (loggops_bytes(most) - 1) * std::max(machine_.G, machine_.O) + work;
}

}  // namespace

Time round_model(const Plan& plan, const Topology& topology, const Machine& machine, bool alone) {
  return Rounds(plan, topology, machine, alone).run();
}

}  // namespace fl::network
