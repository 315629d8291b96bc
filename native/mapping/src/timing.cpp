#include "firstlight/mapping/timing.hpp"

#include "firstlight/network/evaluate.hpp"
#include "firstlight/network/plan.hpp"

namespace fl::mapping {

namespace {

using collectives::Kind;

// The network with ranks where a map puts them.
class Mapped : public network::Topology {
 public:
  Mapped(const Places& places, const Map& map) : places_(places), network_(places.network()), map_(map) {}
  Node nodes() const override { return network_.nodes(); }
  Link links() const override { return network_.links(); }
  bool exists(Link link) const override { return network_.exists(link); }
  network::Ends ends(Link link) const override { return network_.ends(link); }
  void route(Node from, Node to, std::vector<Link>& out) const override {
    if (from == to)
      out.clear();
    else
      network_.route(from, to, out);
  }
  std::string describe(Link link) const override { return network_.describe(link); }
  std::vector<std::string> kinds() const override { return network_.kinds(); }
  int kind(Link link) const override { return network_.kind(link); }
  Node node_of(std::int32_t rank) const override { return places_.node(map_[static_cast<std::size_t>(rank)]); }

 private:
  const Places& places_;
  const network::Topology& network_;
  const Map& map_;
};

network::Listing listing(const Pattern& pattern, std::size_t phase) {
  network::Listing all;
  const auto messages = pattern.messages();
  const auto waits = network::Index{0};
  const auto add = [&](Kind kind, Rank rank, Rank peer, Bytes bytes) {
    network::Step s;
    s.kind = kind;
    s.rank = rank;
    s.peer = peer;
    s.bytes = static_cast<double>(bytes);
    s.waits = s.waits_end = waits;
    all.steps.push_back(s);
    all.tags.push_back(0);
  };
  if (2 * pattern.messages(phase).size() > network::Plan::most_steps)
    throw Wrong("phase " + pattern.name(phase) + " has more messages than the simulation of events can hold");
  all.steps.reserve(2 * pattern.messages(phase).size());
  for (Rank r = 0; r < pattern.ranks(); ++r) {
    all.first.push_back(static_cast<network::Index>(all.steps.size()));
    for (const Index i : pattern.of(r)) {
      const Message& m = messages[i];
      if (static_cast<std::size_t>(m.phase) != phase) continue;
      const bool sends = m.from == r;
      add(sends ? Kind::send : Kind::receive, r, sends ? m.to : m.from, m.bytes);
    }
  }
  all.first.push_back(static_cast<network::Index>(all.steps.size()));
  return all;
}

}  // namespace

Timed simulated(const Pattern& pattern, const Places& places, const Map& map, const network::Machine& machine,
                const std::atomic<bool>& stop) {
  const Mapped mapped(places, map);
  Timed all;
  for (std::size_t p = 0; p < pattern.phases(); ++p) {
    if (stop) throw Wrong("interrupted");
    const network::Plan plan(listing(pattern, p));
    const network::Time time = network::link_events(plan, mapped, machine, network::Interruptions());
    all.phases.push_back(time.nanoseconds * 1e-9);
    all.seconds += time.nanoseconds * 1e-9;
    all.events += time.events;
  }
  return all;
}

double bounded(const Cost& cost, const network::Machine& machine) { return static_cast<double>(cost.maxima) / machine.bandwidth; }

}  // namespace fl::mapping
