// A hypercube: nodes whose numbers differ in one bit are neighbours; routes mend the lowest wrong bit first.
#include <bit>

#include "firstlight/network/topology.hpp"

namespace fl::network {

namespace {

class Hypercube : public Topology {
 public:
  explicit Hypercube(int dimension) : dimension_(dimension) {}
  Node nodes() const override { return Node{1} << dimension_; }
  Link links() const override { return Link{dimension_} << dimension_; }
  bool exists(Link) const override { return true; }
  Ends ends(Link link) const override {
    const Vertex from = link / dimension_;
    return {from, from ^ (Vertex{1} << link % dimension_)};
  }
  void route(Node from, Node to, std::vector<Link>& out) const override {
    out.clear();
    for (auto at = static_cast<std::uint32_t>(from), goal = static_cast<std::uint32_t>(to); at != goal;) {
      const int bit = std::countr_zero(at ^ goal);
      out.push_back(static_cast<Link>(at) * dimension_ + bit);
      at ^= 1U << bit;
    }
  }
  std::string describe(Link link) const override {
    return std::to_string(link / dimension_) + " " + kinds()[static_cast<std::size_t>(link % dimension_)];
  }
  std::vector<std::string> kinds() const override {
    std::vector<std::string> names;
    for (int bit = 0; bit < dimension_; ++bit) names.push_back("bit " + std::to_string(bit));
    return names;
  }
  int kind(Link link) const override { return static_cast<int>(link % dimension_); }
  bool exclusive() const override { return true; }
  Coordinates digits() const override { return Coordinates(static_cast<std::size_t>(dimension_), 2); }

 private:
  int dimension_;
};

}  // namespace

std::unique_ptr<Topology> make_hypercube(std::string_view dimension) {
  const Node bits = extents_of(dimension, 1, 1)[0];
  if (bits > 27) throw Unroutable("a hypercube has at most 27 dimensions");
  return std::make_unique<Hypercube>(bits);
}

}  // namespace fl::network
