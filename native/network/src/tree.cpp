// A plain tree: A nodes below a vertex, B of those below one of the next level, ...; one link each way between a vertex and the one
// above it. It stands for what is inside of a node (cores below caches, below NUMA nodes, below sockets) and for networks of one way.
#include "firstlight/network/topology.hpp"

namespace fl::network {

namespace {

// Vertices of level 0 are the nodes; links 2 v and 2 v + 1 lead up from vertex v and down to it. The root has none.
class Tree : public Topology {
 public:
  explicit Tree(std::vector<Node> children) : children_(std::move(children)) {
    for (const Node c : children_) nodes_ *= c;
    Vertex some = nodes_, first = 0;
    for (const Node c : children_) {
      first_.push_back(first);
      first += some;
      some /= c;
    }
    first_.push_back(first);
  }
  Node nodes() const override { return nodes_; }
  Link links() const override { return 2 * first_.back(); }
  bool exists(Link) const override { return true; }
  Ends ends(Link link) const override {
    const std::size_t l = level(link);
    const Vertex below = link / 2, above = first_[l + 1] + (below - first_[l]) / children_[l];
    return link % 2 == 0 ? Ends{below, above} : Ends{above, below};
  }
  void route(Node from, Node to, std::vector<Link>& out) const override {
    out.clear();
    Vertex here = from, there = to;
    std::size_t levels = 0;
    for (; here != there; ++levels) {
      out.push_back(2 * (first_[levels] + here));
      here /= children_[levels];
      there /= children_[levels];
    }
    for (std::size_t l = levels; l-- > 0;) {
      there = to;
      for (std::size_t k = 0; k < l; ++k) there /= children_[k];
      out.push_back(2 * (first_[l] + there) + 1);
    }
  }
  std::string describe(Link link) const override {
    const Ends e = ends(link);
    return kinds()[static_cast<std::size_t>(kind(link))] + " " + std::to_string(e.from) + " to " + std::to_string(e.to);
  }
  std::vector<std::string> kinds() const override {
    std::vector<std::string> names;
    for (std::size_t l = 0; l < children_.size(); ++l)
      for (const char* way : {"up ", "down "}) names.push_back(way + std::to_string(l + 1));
    return names;
  }
  int kind(Link link) const override { return static_cast<int>(2 * level(link) + static_cast<std::size_t>(link % 2)); }
  Coordinates digits() const override { return children_; }

 private:
  std::size_t level(Link link) const {
    std::size_t l = 0;
    while (link / 2 >= first_[l + 1]) ++l;
    return l;
  }

  std::vector<Node> children_;
  Node nodes_ = 1;
  std::vector<Vertex> first_;  // of each level; at the end the root's
};

}  // namespace

std::unique_ptr<Topology> make_tree(std::string_view levels) { return std::make_unique<Tree>(extents_of(levels, 1, 8)); }

}  // namespace fl::network
