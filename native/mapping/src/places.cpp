#include "firstlight/mapping/places.hpp"

#include <algorithm>

namespace fl::mapping {

namespace {

constexpr std::int64_t most_slots = 1 << 24;

}  // namespace

Places::Places(const Ground& ground)
    : network_(network::make_topology(ground.topology, ground.faulty)), per_node_(ground.per_node), speed_(ground.inside_speed) {
  const Node nodes = network_->nodes();
  if (network_->links() == 0) throw Wrong("on a network without links all maps are equal; choose one with links, such as torus:8x8");
  if (per_node_ < 1 || std::int64_t{nodes} * per_node_ > most_slots)
    throw Wrong("the number of slots must be from 1 to " + std::to_string(most_slots));
  if (!(speed_ > 0)) throw Wrong("the bandwidth within a node must be above 0");
  if (!ground.inside.empty()) {
    inner_ = network::make_topology(ground.inside);
    if (inner_->nodes() != per_node_) throw Wrong(ground.inside + " has no place for exactly " + std::to_string(per_node_) + " ranks");
  }
  free_.assign(static_cast<std::size_t>(nodes), true);
  for (const auto* some : {&ground.holes, &ground.faulty})
    for (const Node n : *some) {
      if (n < 0 || n >= nodes) throw Wrong("there is no node " + std::to_string(n) + " among " + std::to_string(nodes));
      free_[static_cast<std::size_t>(n)] = false;
    }
  nodes_.resize(static_cast<std::size_t>(nodes));
  positions_.resize(nodes_.size());
  for (Node p = 0; p < nodes; ++p) {
    nodes_[static_cast<std::size_t>(p)] = network_->node_of(p);
    positions_[static_cast<std::size_t>(nodes_[static_cast<std::size_t>(p)])] = p;
  }
  for (Slot s = 0; s < slots(); ++s)
    if (allowed(s)) open_.push_back(s);
  std::vector<Bytes> out(nodes_.size(), 0), in(nodes_.size(), 0);
  for (Link l = 0; l < network_->links(); ++l) {
    if (!network_->exists(l)) continue;
    ++existing_;
    const network::Ends e = network_->ends(l);
    if (e.from < nodes) ++out[static_cast<std::size_t>(e.from)];
    if (e.to < nodes) ++in[static_cast<std::size_t>(e.to)];
  }
  out_ = *std::max_element(out.begin(), out.end());
  in_ = *std::max_element(in.begin(), in.end());
  if (inner_) existing_ = links();
}

bool Places::exists(Link link) const { return link >= network_->links() || network_->exists(link); }

std::string Places::describe(Link link) const {
  if (link < network_->links()) return network_->describe(link);
  const Link inside = link - network_->links();
  return "inside node " + std::to_string(nodes_[static_cast<std::size_t>(inside / inner_->links())]) + ": " +
         inner_->describe(inside % inner_->links());
}

void Places::route(Slot from, Slot to, std::vector<Link>& out) const {
  const Slot here = from / per_node_, there = to / per_node_;
  if (here != there) return network_->route(nodes_[static_cast<std::size_t>(here)], nodes_[static_cast<std::size_t>(there)], out);
  out.clear();
  if (!inner_) return;
  inner_->route(from % per_node_, to % per_node_, out);
  for (Link& l : out) l += network_->links() + here * inner_->links();
}

std::vector<Node> Places::digits() const {
  std::vector<Node> all;
  if (inner_)
    all = inner_->digits();
  else if (per_node_ > 1)
    all.push_back(per_node_);
  for (const Node d : network_->digits()) all.push_back(d);
  return all;
}

void Places::coordinates(Slot slot, std::vector<Node>& out) const {
  out.clear();
  const network::Coordinates shape = network_->shape();
  const bool whole = !shape.empty();
  Node left = whole ? slot / per_node_ : node(slot);
  out.push_back(slot % per_node_);
  for (const Node extent : whole ? shape : network_->digits()) {
    out.push_back(left % extent);
    left /= extent;
  }
}

Bytes Places::bound(const Pattern& pattern, std::size_t phase) const {
  if (per_node_ > 1 || out_ == 0 || in_ == 0) return 0;
  std::vector<Bytes> sent(static_cast<std::size_t>(pattern.ranks()), 0), received(sent);
  Bytes most = 0;
  for (const Message& m : pattern.messages(phase)) {
    most = std::max(most, m.bytes);
    sent[static_cast<std::size_t>(m.from)] += m.bytes;
    received[static_cast<std::size_t>(m.to)] += m.bytes;
  }
  for (const Bytes b : sent) most = std::max(most, (b + out_ - 1) / out_);
  for (const Bytes b : received) most = std::max(most, (b + in_ - 1) / in_);
  return most;
}

}  // namespace fl::mapping
