// Where ranks may be: slots of the nodes of a network. Slot s is place s % per_node of the node of position s / per_node, in the
// network's own order of ranks; so a launcher without options puts rank r in the r-th slot.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "firstlight/mapping/pattern.hpp"
#include "firstlight/network/topology.hpp"

namespace fl::mapping {

using network::Link;
using network::Node;
using Slot = std::int32_t;

struct Ground {
  std::string topology;             // as make_topology accepts it
  Node per_node = 1;                // ranks
  std::string inside;               // of a node, as tree:CORESxNUMAxSOCKETS; empty: messages within a node are free
  double inside_speed = 4;          // of a link inside, in links of the network
  std::vector<Node> holes, faulty;  // positions that take no ranks; routes avoid faulty ones where the network can
};

class Places {
 public:
  // Raises Wrong or network::Unroutable.
  explicit Places(const Ground& ground);

  const network::Topology& network() const { return *network_; }
  Slot slots() const { return static_cast<Slot>(nodes_.size()) * per_node_; }
  Node per_node() const { return per_node_; }
  Node node(Slot slot) const { return nodes_[static_cast<std::size_t>(slot / per_node_)]; }
  bool allowed(Slot slot) const { return free_[static_cast<std::size_t>(slot / per_node_)]; }
  const std::vector<Slot>& open() const { return open_; }  // the allowed ones, ascending
  // Links of the network, then those inside of each node.
  Link links() const { return network_->links() + (inner_ ? inner_->links() * static_cast<Link>(nodes_.size()) : 0); }
  Link existing() const { return existing_; }
  bool exists(Link link) const;
  std::string describe(Link link) const;
  // Replaces `out`; raises network::Unroutable.
  void route(Slot from, Slot to, std::vector<Link>& out) const;
  // What a link is loaded with by so many bytes: those of a link inside a node count less, for it is faster.
  Bytes load(Link link, Bytes bytes) const {
    return !inner_ || link < network_->links() ? bytes : static_cast<Bytes>(static_cast<double>(bytes) / speed_);
  }
  // The mixed radix of node numbers with the place in a node as its fastest digits, and the slot of a number in it.
  std::vector<Node> digits() const;
  Slot numbered(std::int64_t number) const {
    return positions_[static_cast<std::size_t>(number / per_node_)] * per_node_ + static_cast<Slot>(number % per_node_);
  }
  // Coordinates in which near slots have near numbers, for halving: those of the ranks' torus or of the digits.
  void coordinates(Slot slot, std::vector<Node>& out) const;
  // The least that a phase can put on its busiest link, whatever the map; 0 where nothing is known.
  Bytes bound(const Pattern& pattern, std::size_t phase) const;

 private:
  std::unique_ptr<network::Topology> network_, inner_;
  Node per_node_;
  double speed_;
  std::vector<Node> nodes_;      // of each position
  std::vector<Node> positions_;  // of each node
  std::vector<bool> free_;
  std::vector<Slot> open_;
  Link existing_ = 0;
  Bytes out_ = 0, in_ = 0;  // most links out of a node, and into one
};

}  // namespace fl::mapping
