// A torus or mesh of any dimension, routed axis by axis in order, the shorter way around.
#include <array>

#include "firstlight/network/topology.hpp"

namespace fl::network {

namespace {

constexpr std::size_t most_axes = 16;

// Port 2 i is the + direction of axis i, port 2 i + 1 the - direction. On a ring of two both lead to the same neighbour, by links of
// their own. Half way around, both directions are as short: the sum of the other displacements decides, so that a route depends on
// the displacement only and both directions are used alike.
class Torus : public Topology {
 public:
  Torus(std::vector<Node> extents, bool wraps)
      : extents_(std::move(extents)), wraps_(wraps), ports_(2 * static_cast<Link>(extents_.size())) {
    for (const Node extent : extents_) {
      strides_.push_back(nodes_);
      nodes_ *= extent;
    }
  }
  Node nodes() const override { return nodes_; }
  Link links() const override { return ports_ * nodes_; }
  bool exists(Link link) const override {
    const auto [axis, up] = way(link);
    const Node at = place(static_cast<Node>(link / ports_), axis);
    return extents_[axis] > 1 && (wraps_ || (up ? at + 1 < extents_[axis] : at > 0));
  }
  Ends ends(Link link) const override {
    const auto [axis, up] = way(link);
    const auto from = static_cast<Node>(link / ports_);
    return {from, step(from, axis, up)};
  }
  void route(Node from, Node to, std::vector<Link>& out) const override;
  std::string describe(Link link) const override {
    const auto [axis, up] = way(link);
    std::string text = "(";
    for (std::size_t i = 0; i < extents_.size(); ++i)
      text += (i > 0 ? "," : "") + std::to_string(place(static_cast<Node>(link / ports_), i));
    return text + ")" + kinds()[2 * axis + (up ? 0 : 1)];
  }
  std::vector<std::string> kinds() const override {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < extents_.size(); ++i)
      for (const char* sign : {"+", "-"}) names.push_back(sign + (extents_.size() <= 3 ? std::string(1, "xyz"[i]) : std::to_string(i)));
    return names;
  }
  int kind(Link link) const override { return static_cast<int>(link % ports_); }
  Coordinates shape() const override { return extents_; }
  std::vector<bool> open() const override { return wraps_ ? std::vector<bool>() : std::vector<bool>(extents_.size(), true); }
  bool translates() const override { return wraps_; }
  Coordinates digits() const override { return extents_; }

 private:
  struct Way {
    std::size_t axis;
    bool up;
  };
  Way way(Link link) const { return {static_cast<std::size_t>(link % ports_ / 2), link % 2 == 0}; }
  Node place(Node node, std::size_t axis) const { return node / strides_[axis] % extents_[axis]; }
  Node step(Node node, std::size_t axis, bool up) const {
    const Node at = place(node, axis), extent = extents_[axis];
    const Node next = up ? (at + 1 == extent ? 0 : at + 1) : (at == 0 ? extent - 1 : at - 1);
    return node + (next - at) * strides_[axis];
  }

  std::vector<Node> extents_;
  std::vector<Node> strides_;
  bool wraps_;
  Link ports_;
  Node nodes_ = 1;
};

void Torus::route(Node from, Node to, std::vector<Link>& out) const {
  out.clear();
  std::array<Node, most_axes> ahead{};  // displacement along each axis, upwards
  Node sum = 0;
  for (std::size_t i = 0; i < extents_.size(); ++i) {
    ahead[i] = place(to, i) - place(from, i);
    if (wraps_ && ahead[i] < 0) ahead[i] += extents_[i];
    sum += ahead[i];
  }
  Node at = from;
  for (std::size_t i = 0; i < extents_.size(); ++i) {
    const Node far = ahead[i], back = extents_[i] - far;
    const bool up = wraps_ ? far < back || (far == back && (sum - far) % 2 == 0) : far > 0;
    const Node hops = up ? far : wraps_ ? back : -far;
    if (far == 0) continue;
    const Node one = up ? strides_[i] : -strides_[i], around = extents_[i] * one, last = up ? extents_[i] - 1 : 0;
    const Link port = 2 * static_cast<Link>(i) + (up ? 0 : 1);
    Node here = place(from, i);  // axes before this one do not change it
    for (Node k = 0; k < hops; ++k) {
      out.push_back(at * ports_ + port);
      at += here == last ? one - around : one;
      here = here == last ? extents_[i] - 1 - last : here + (up ? 1 : -1);
    }
  }
}

}  // namespace

std::unique_ptr<Topology> make_torus(std::string_view extents, bool wraps) {
  return std::make_unique<Torus>(extents_of(extents, 1, most_axes), wraps);
}

}  // namespace fl::network
