// The K computer's network: six axes, X, Z and B closed to rings, Y, A and C open, with 2 x 3 x 2 nodes in A x B x C.
// Sources: Ajima, Sumimoto, Shimizu 2009, Tofu: A 6D Mesh/Torus Interconnect for Exascale Computers; Ajima et al. 2012, The Tofu
// Interconnect, IEEE Micro 32(1).
#include <algorithm>
#include <array>

#include "firstlight/network/topology.hpp"

namespace fl::network {

namespace {

enum Axis : std::size_t { X, Y, Z, A, B, C };
constexpr std::array<bool, 6> ring{true, false, true, false, true, false};
constexpr std::array<Axis, 6> order{X, Y, Z, A, C, B};
constexpr const char* letters = "xyzabc";
constexpr Link ports = 12;  // + and - of each axis; A and C have one each, for they are of length 2

using Place = std::array<Node, 6>;

class Tofu : public Topology {
 public:
  Tofu(const std::vector<Node>& cubes, std::span<const std::int32_t> faulty_ranks)
      : extents_{cubes[0], cubes[1], cubes[2], 2, 3, 2}, nodes_(cubes[0] * cubes[1] * cubes[2] * 12) {
    for (const std::int32_t rank : faulty_ranks) {
      if (rank < 0 || rank >= nodes_) throw Unroutable("there is no rank " + std::to_string(rank));
      if (faulty_.empty()) faulty_.resize(static_cast<std::size_t>(nodes_), false);
      faulty_[static_cast<std::size_t>(node_of(rank))] = true;
    }
    for (std::size_t i = 1; i < 6; ++i) strides_[i] = strides_[i - 1] * extents_[i - 1];
  }
  Node nodes() const override { return nodes_; }
  Link links() const override { return ports * nodes_; }
  bool exists(Link link) const override {
    const auto axis = static_cast<std::size_t>(link % ports / 2);
    const Node at = place(static_cast<Node>(link / ports))[axis];
    return extents_[axis] > 1 && (ring[axis] || (link % 2 == 0 ? at + 1 < extents_[axis] : at > 0));
  }
  Ends ends(Link link) const override {
    Place p = place(static_cast<Node>(link / ports));
    move(p, static_cast<std::size_t>(link % ports / 2), link % 2 == 0);
    return {link / ports, index(p)};
  }
  void route(Node from, Node to, std::vector<Link>& out) const override;
  std::string describe(Link link) const override {
    std::string text = "(";
    const Place p = place(static_cast<Node>(link / ports));
    for (std::size_t i = 0; i < 6; ++i) text += (i > 0 ? "," : "") + std::to_string(p[i]);
    return text + ")" + kinds()[static_cast<std::size_t>(link % ports)];
  }
  std::vector<std::string> kinds() const override {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < 6; ++i)
      for (const char* sign : {"+", "-"}) names.push_back(std::string(sign) + letters[i]);
    return names;
  }
  int kind(Link link) const override { return static_cast<int>(link % ports); }
  // The virtual torus: x goes out on a = 0 and back on a = 1; y snakes over b = 1, 2 and returns on b = 0; z with c is like x with a.
  Coordinates shape() const override { return {2 * extents_[X], 3 * extents_[Y], 2 * extents_[Z]}; }
  Node node_of(std::int32_t rank) const override;
  bool rings() const override { return faulty_.empty(); }
  Coordinates digits() const override { return {extents_.begin(), extents_.end()}; }

 private:
  Place place(Node node) const {
    Place p;
    for (std::size_t i = 0; i < 6; ++i) {
      p[i] = node % extents_[i];
      node /= extents_[i];
    }
    return p;
  }
  Node index(const Place& p) const {
    Node node = 0;
    for (std::size_t i = 6; i-- > 0;) node = node * extents_[i] + p[i];
    return node;
  }
  void move(Place& p, std::size_t axis, bool up) const {
    const Node extent = extents_[axis];
    p[axis] = up ? (p[axis] + 1 == extent ? 0 : p[axis] + 1) : (p[axis] == 0 ? extent - 1 : p[axis] - 1);
  }
  void along(Place& p, Node& node, std::size_t axis, Node to, bool tie_up, std::vector<Link>& out) const;
  void through(const Place& from, const Place& to, const Place& transit, std::vector<Link>& out) const;
  bool sound(const std::vector<Link>& way) const {
    return std::none_of(way.begin(), way.end(), [this](Link link) { return faulty_[static_cast<std::size_t>(ends(link).to)]; });
  }

  Place extents_, strides_{1};
  Node nodes_;
  std::vector<bool> faulty_;  // empty: none
};

Node Tofu::node_of(std::int32_t rank) const {
  const Node rings[3] = {2 * extents_[X], 3 * extents_[Y], 2 * extents_[Z]};
  const Node i = rank % rings[0], j = rank / rings[0] % rings[1], k = rank / rings[0] / rings[1];
  const auto out_and_back = [](Node at, Node extent, Node& way, Node& side) {
    side = at < extent ? 0 : 1;
    way = side == 0 ? at : 2 * extent - 1 - at;
  };
  Place p{};
  out_and_back(i, extents_[X], p[X], p[A]);
  out_and_back(k, extents_[Z], p[Z], p[C]);
  if (j < 2 * extents_[Y]) {
    p[Y] = j / 2;
    p[B] = p[Y] % 2 == 0 ? 1 + j % 2 : 2 - j % 2;
  } else {
    p[Y] = rings[1] - 1 - j;
    p[B] = 0;
  }
  return index(p);
}

// Appends the links along an axis from a place, whose node is given, and moves both on.
void Tofu::along(Place& p, Node& node, std::size_t axis, Node to, bool tie_up, std::vector<Link>& out) const {
  if (p[axis] == to) return;
  Node hops = to - p[axis];
  bool up = hops > 0;
  if (ring[axis]) {
    const Node far = (hops + extents_[axis]) % extents_[axis], back = extents_[axis] - far;
    up = far < back || (far == back && tie_up);
    hops = up ? far : -back;
  }
  const Link port = static_cast<Link>(2 * axis + (up ? 0 : 1));
  for (Node k = 0; k < (up ? hops : -hops); ++k) {
    out.push_back(node * ports + port);
    const Node before = p[axis];
    move(p, axis, up);
    node += (p[axis] - before) * strides_[axis];
  }
}

// b, c, a to the transit coordinates, x, y, z there, then a, c, b. Plain routing is the transit at the source's own coordinates.
void Tofu::through(const Place& from, const Place& to, const Place& transit, std::vector<Link>& out) const {
  out.clear();
  Place at = from;
  Node node = index(from), sum = 0;
  for (std::size_t i = 0; i < 6; ++i) sum += to[i] + from[i];
  for (const Axis axis : {B, C, A}) along(at, node, axis, transit[axis], true, out);
  for (const Axis axis : order) along(at, node, axis, to[axis], (sum - to[axis] - from[axis]) % 2 == 0, out);
}

void Tofu::route(Node from, Node to, std::vector<Link>& out) const {
  const Place source = place(from), target = place(to);
  through(source, target, source, out);
  if (faulty_.empty() || sound(out)) return;
  std::vector<Link> best, other;
  for (Node transit = 0; transit < 12; ++transit) {
    Place p = source;
    p[A] = transit % 2;
    p[B] = transit / 2 % 3;
    p[C] = transit / 6;
    through(source, target, p, other);
    if (sound(other) && (best.empty() || other.size() < best.size())) best = other;
  }
  if (best.empty()) throw Unroutable("no way around the faults from node " + std::to_string(from) + " to node " + std::to_string(to));
  out = best;
}

}  // namespace

std::unique_ptr<Topology> make_tofu(std::string_view extents, std::span<const std::int32_t> faulty_ranks) {
  const std::vector<Node> cubes = extents_of(extents, 3, 3);
  static_cast<void>(extents_of(std::string(extents) + "x12", 4, 4));  // that many nodes can be
  return std::make_unique<Tofu>(cubes, faulty_ranks);
}

}  // namespace fl::network
