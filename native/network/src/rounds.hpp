// The busiest link and the busiest node of a round.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "firstlight/network/alike_rounds.hpp"
#include "firstlight/network/machine.hpp"
#include "firstlight/network/topology.hpp"

namespace fl::network {

struct Sent {
  std::int32_t from = 0;
  std::int32_t to = 0;
  double bytes = 0;
  bool combined = false;  // added where it arrives
};

class Busiest {
 public:
  // representative: all nodes do what node 0 does, and links of a kind are alike.
  Busiest(const Topology& topology, const Machine& machine, std::size_t nodes, bool representative);
  // Calls use(link) for each link of each message.
  template <class Use>
  Round of(std::span<const Sent> messages, Use use);
  Round of(std::span<const Sent> messages) {
    return of(messages, [](const Sent&, Link) {});
  }

 private:
  std::size_t receiver(const Sent& m) const { return representative_ ? 0 : static_cast<std::size_t>(m.to); }

  const Topology& topology_;
  bool representative_;
  double share_;  // of a node's bytes that one interface takes
  std::vector<double> load_, sent_, received_;
  std::vector<Link> way_, used_;
};

template <class Use>
Round Busiest::of(std::span<const Sent> messages, Use use) {
  Round round;
  const auto add = [&round](double& sum, double bytes, double share) {
    sum += bytes;
    round.busiest = std::max(round.busiest, sum * share);
  };
  used_.clear();
  for (const Sent& m : messages) {
    topology_.route(topology_.node_of(m.from), topology_.node_of(m.to), way_);
    round.hops = std::max(round.hops, way_.size());
    round.longest = std::max(round.longest, m.bytes);
    if (m.combined) round.combined = std::max(round.combined, m.bytes);
    for (const Link link : way_) {
      use(m, link);
      const Link place = representative_ ? topology_.kind(link) : link;
      used_.push_back(place);
      add(load_[static_cast<std::size_t>(place)], m.bytes, 1);
    }
    add(sent_[static_cast<std::size_t>(m.from)], m.bytes, share_);
    add(received_[receiver(m)], m.bytes, share_);
  }
  round.busiest = std::max(round.busiest, round.longest);
  for (const Link place : used_) load_[static_cast<std::size_t>(place)] = 0;
  for (const Sent& m : messages) sent_[static_cast<std::size_t>(m.from)] = received_[receiver(m)] = 0;
  return round;
}

}  // namespace fl::network
