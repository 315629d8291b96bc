#include "firstlight/network/topology.hpp"

#include <charconv>
#include <utility>

namespace fl::network {

namespace {

constexpr std::int64_t most_nodes = std::int64_t{1} << 27;

// A network without links: a message lasts the LogGOPS time, between any two ranks.
class Flat : public Topology {
 public:
  explicit Flat(Coordinates shape) : shape_(std::move(shape)) {
    for (const Node extent : shape_) nodes_ *= extent;
  }
  Node nodes() const override { return nodes_; }
  Link links() const override { return 0; }
  bool exists(Link) const override { return false; }
  Ends ends(Link) const override { return {}; }
  void route(Node, Node, std::vector<Link>& out) const override { out.clear(); }
  std::string describe(Link) const override { return "none"; }
  std::vector<std::string> kinds() const override { return {}; }
  int kind(Link) const override { return 0; }
  Coordinates shape() const override { return shape_.size() > 1 ? shape_ : Coordinates(); }

 private:
  Coordinates shape_;
  Node nodes_ = 1;
};

}  // namespace

std::vector<Node> extents_of(std::string_view text, std::size_t least, std::size_t most) {
  std::vector<Node> extents;
  std::int64_t product = 1;
  const std::string whole(text);
  while (true) {
    Node extent = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), extent);
    if (error != std::errc() || extent < 1) throw Unroutable("'" + whole + "' should be positive numbers joined by x");
    product *= extent;
    if (product > most_nodes) throw Unroutable("'" + whole + "' has more than " + std::to_string(most_nodes) + " nodes");
    extents.push_back(extent);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.empty()) break;
    if (text.front() != 'x') throw Unroutable("'" + whole + "' should be positive numbers joined by x");
    text.remove_prefix(1);
  }
  if (extents.size() < least || extents.size() > most)
    throw Unroutable("'" + whole + "' should be " + std::to_string(least) + " to " + std::to_string(most) + " numbers");
  return extents;
}

std::unique_ptr<Topology> make_topology(std::string_view spec, std::span<const std::int32_t> faulty_ranks) {
  const std::size_t colon = spec.find(':');
  const std::string_view kind = spec.substr(0, colon);
  const std::string_view rest = colon == std::string_view::npos ? std::string_view() : spec.substr(colon + 1);
  if (kind == "tofu") return make_tofu(rest, faulty_ranks);
  if (kind == "torus") return make_torus(rest, true);
  if (kind == "mesh") return make_torus(rest, false);
  if (kind == "fattree") return make_fat_tree(rest);
  if (kind == "tree") return make_tree(rest);
  if (kind == "dragonfly") return make_dragonfly(rest);
  if (kind == "hypercube") return make_hypercube(rest);
  if (kind == "flat") return std::make_unique<Flat>(extents_of(rest, 1, 16));
  throw Unroutable("'" + std::string(spec) +
                   "' is not a network: tofu:XxYxZ, torus:AxB.., mesh:AxB.., fattree:MxN../MU, tree:AxB.., dragonfly:GxRxN, "
                   "hypercube:D or flat:P[xQ..]");
}

}  // namespace fl::network
