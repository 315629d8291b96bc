#include "firstlight/mapping/timing.hpp"

#include <algorithm>

#include "firstlight/network/evaluate.hpp"
#include "firstlight/network/plan.hpp"

namespace fl::mapping {

namespace {

using collectives::Kind;

// Networks carry packets: at a link another message goes on between two of them. Whole messages would hold it for as long as they are,
// and wait in chains that do not exist on a network; with more than four parts little changes any more (docs/rank-maps.md). Each part keeps an
// interface for the overhead of a message, which a part of so many bytes hides.
constexpr Bytes most_packets = 4, least_packet = 16384;
std::int32_t packets(Bytes bytes) { return static_cast<std::int32_t>(std::clamp<Bytes>(bytes / least_packet, 1, most_packets)); }

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

// Phases [begin, end): in each, a rank sends and receives all at once; it turns to the next when its own messages are through.
network::Listing listing(const Pattern& pattern, std::size_t begin, std::size_t end) {
  network::Listing all;
  const auto messages = pattern.messages();
  std::size_t steps = 0;
  for (std::size_t p = begin; p < end; ++p) steps += 2 * pattern.messages(p).size();
  steps += static_cast<std::size_t>(pattern.ranks()) * (end - begin - 1);
  if (steps > network::Plan::most_steps) throw Wrong("too many messages for a simulation with events");
  all.steps.reserve(steps);
  all.tags.reserve(steps);
  const auto add = [&all](network::Step s, Rank rank, std::int32_t tag, std::size_t waits) {
    s.rank = rank;
    s.waits = static_cast<network::Index>(waits);
    s.waits_end = static_cast<network::Index>(all.waits.size());
    all.steps.push_back(s);
    all.tags.push_back(tag);
  };
  for (Rank r = 0; r < pattern.ranks(); ++r) {
    std::size_t first = all.steps.size();  // of those that the next phase waits for
    all.first.push_back(static_cast<network::Index>(first));
    std::int32_t phase = -1;
    bool waits = false;
    network::Index turn = 0;  // over when the phase before is
    for (const Index i : pattern.of(r)) {
      const Message& m = messages[i];
      const auto here = static_cast<std::size_t>(m.phase);
      if (here < begin || here >= end) continue;
      if (phase >= 0 && m.phase != phase) {
        const std::size_t from = all.waits.size();
        for (std::size_t k = first; k < all.steps.size(); ++k) all.waits.push_back({static_cast<network::Index>(k)});
        turn = static_cast<network::Index>(all.steps.size());
        add({.kind = Kind::compute}, r, 0, from);
        first = all.steps.size();
        waits = true;
      }
      phase = m.phase;
      const bool sends = m.from == r;
      const std::size_t from = all.waits.size();
      if (waits) all.waits.push_back({turn});
      const std::int32_t parts = packets(m.bytes);
      add({.kind = sends ? Kind::send : Kind::receive,
           .peer = sends ? m.to : m.from,
           .segments = parts,
           .bytes = static_cast<double>(m.bytes) / parts},
          r, m.phase, from);
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
    const network::Plan plan(listing(pattern, p, p + 1));
    const network::Time time = network::link_events(plan, mapped, machine, network::Interruptions());
    all.phases.push_back(time.nanoseconds * 1e-9);
    all.seconds += time.nanoseconds * 1e-9;
    all.events += time.events;
  }
  if (stop || pattern.phases() == 0) return all;
  const network::Plan plan(listing(pattern, 0, pattern.phases()));
  const network::Time time = network::link_events(plan, mapped, machine, network::Interruptions());
  all.flowing = time.nanoseconds * 1e-9;
  all.events += time.events;
  return all;
}

double bounded(const Cost& cost, const network::Machine& machine) { return static_cast<double>(cost.maxima) / machine.bandwidth; }

}  // namespace fl::mapping
