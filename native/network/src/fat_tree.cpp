// A fat tree (folded Clos): M nodes a leaf switch, N of those below a switch of the next level, ... A leaf has M / MU links upwards,
// each switch above as many upwards as downwards. A message goes up as far as it must; the digits of its destination choose the
// link upwards, so that those from one leaf to the nodes of another go over different switches.
// Sources: Leiserson 1985, Fat-Trees; Ohring et al. 1995, On Generalized Fat Trees; Zahavi 2012, Fat-Tree Routing and Node Ordering.
#include <charconv>
#include <cmath>

#include "firstlight/network/topology.hpp"

namespace fl::network {

namespace {

// A vertex of level l (0: nodes) is (which subtree of that level, which of the switches at its top). `parents` of level l is how many
// links lead upwards from each vertex of that level: one for nodes.
class FatTree : public Topology {
 public:
  FatTree(std::vector<Node> children, double mu) : children_(std::move(children)) {
    for (const Node c : children_) nodes_ *= c;
    Link subtrees = nodes_, tops = 1, vertices = 0;
    for (std::size_t l = 0; l <= children_.size(); ++l) {
      levels_.push_back({.first = vertices, .subtrees = subtrees, .tops = tops, .links = links_});
      vertices += subtrees * tops;
      if (l == children_.size()) break;
      const double wanted = l == 0 ? 1 : l == 1 ? children_[0] / mu : children_[l - 1];
      const auto parents = static_cast<Link>(std::fmax(1, std::floor(wanted)));
      levels_[l].parents = parents;
      links_ += 2 * subtrees * tops * parents;
      subtrees /= children_[l];
      tops *= parents;
    }
  }
  Node nodes() const override { return nodes_; }
  Link links() const override { return links_; }
  bool exists(Link) const override { return true; }
  Ends ends(Link link) const override {
    const std::size_t l = level(link);
    const Level& low = levels_[l];
    const Link k = (link - low.links) / 2, vertex = k / low.parents, port = k % low.parents;
    const Link subtree = vertex / low.tops, top = vertex % low.tops;
    const Level& high = levels_[l + 1];
    const Vertex below = low.first + vertex;
    const Vertex above = high.first + subtree / children_[l] * high.tops + top * low.parents + port;
    return (link - low.links) % 2 == 0 ? Ends{below, above} : Ends{above, below};
  }
  void route(Node from, Node to, std::vector<Link>& out) const override {
    out.clear();
    Link here = from, there = to, top = 0, digits = to;
    std::size_t l = 0;
    std::vector<Link> down;
    for (; here != there; ++l) {
      const Level& low = levels_[l];
      const Link port = l == 0 ? 0 : digits % low.parents;
      if (l > 0) digits /= children_[l - 1];
      out.push_back(low.links + 2 * ((here * low.tops + top) * low.parents + port));
      down.push_back(low.links + 2 * ((there * low.tops + top) * low.parents + port) + 1);
      top = top * low.parents + port;
      here /= children_[l];
      there /= children_[l];
    }
    out.insert(out.end(), down.rbegin(), down.rend());
  }
  std::string describe(Link link) const override {
    const Ends e = ends(link);
    return kinds()[static_cast<std::size_t>(kind(link))] + " " + std::to_string(e.from) + " to " + std::to_string(e.to);
  }
  Coordinates digits() const override { return children_; }
  std::vector<std::string> kinds() const override {
    std::vector<std::string> names;
    for (std::size_t l = 0; l < children_.size(); ++l)
      for (const char* way : {"up ", "down "}) names.push_back(way + std::to_string(l + 1));
    return names;
  }
  int kind(Link link) const override {
    const std::size_t l = level(link);
    return static_cast<int>(2 * l + static_cast<std::size_t>((link - levels_[l].links) % 2));
  }

 private:
  struct Level {
    Vertex first;
    Link subtrees, tops, links;  // links: the first one from here upwards; then its way down, and so on
    Link parents = 0;
  };
  std::size_t level(Link link) const {
    std::size_t l = 0;
    while (l + 1 < children_.size() && link >= levels_[l + 1].links) ++l;
    return l;
  }

  std::vector<Node> children_;
  Node nodes_ = 1;
  Link links_ = 0;
  std::vector<Level> levels_;
};

}  // namespace

std::unique_ptr<Topology> make_fat_tree(std::string_view levels) {
  double mu = 1;
  const std::size_t slash = levels.find('/');
  if (slash != std::string_view::npos) {
    const std::string_view text = levels.substr(slash + 1);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), mu);
    if (error != std::errc() || end != text.data() + text.size() || !(mu > 0 && mu <= 1e6))
      throw Unroutable("the oversubscription '" + std::string(text) + "' should be a positive number");
  }
  return std::make_unique<FatTree>(extents_of(levels.substr(0, slash), 1, 8), mu);
}

}  // namespace fl::network
