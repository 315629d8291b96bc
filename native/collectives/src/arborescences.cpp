// Packing arc-disjoint spanning trees. All trees grow at once, level by level. They can be completed as long as every set of nodes has
// at least as many arcs left into it as there are trees that have not come to it. A tree may take the arc (u, v) if that stays so,
// which is to be asked only of the sets with v and without u: it does if there are arc-disjoint paths to v over arcs that are left,
// one from each other tree, starting anywhere in it, or from u. Searched backwards from v, these are short. A set that refuses an arc
// to a tree once does so for ever; therefore each arc is offered once to each tree, and the trees come out spanning.
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>

#include "firstlight/collectives/torus.hpp"

namespace fl::collectives {

namespace {

// Streams that a node sends, but as a last resort: it has so many network interfaces.
constexpr int streams = 4;

class Packing {
 public:
  using Arc = std::int64_t;
  struct Offer {
    Arc arc;
    bool last = false;  // offered again, as a last resort
  };
  struct Tree {
    std::vector<Rank> parent;
    std::vector<std::int32_t> depth;         // -1: not in the tree
    std::vector<std::vector<Offer>> offers;  // at a level
  };

  template <class T>
  static decltype(auto) at(T& vector, std::int64_t index) {
    return vector[static_cast<std::size_t>(index)];
  }

  Packing(const Torus& torus, Rank root, int most)
      : torus_(torus), root_(root), ways_(torus.directions()), nodes_(static_cast<std::size_t>(torus.nodes())) {
    to_.assign(nodes_ * static_cast<std::size_t>(ways_), -1);
    from_ = to_;
    flow_.resize(to_.size());
    seen_.resize(nodes_);
    by_.resize(nodes_);
    sends_.resize(nodes_);
    for (int a = 0; a < torus.axes(); ++a) last_ += 2 * static_cast<std::size_t>(torus.extent(a));
    for (Rank u = 0; u < torus.nodes(); ++u)
      for (int d = 0; d < ways_; ++d)
        if (const Rank v = torus.neighbour(u, d); v >= 0 && v != root) {
          at(to_, u * ways_ + d) = v;
          at(from_, v * ways_ + d) = u;
        }
    while (most > 0 && !connected(most)) --most;
    trees_.resize(static_cast<std::size_t>(most));
  }

  std::vector<Tree> grow() {
    for (Tree& tree : trees_) {
      tree.parent.assign(nodes_, -1);
      tree.depth.assign(nodes_, -1);
      join(tree, root_, 0, 0);
    }
    for (std::size_t level = 0; std::ranges::any_of(trees_, [&](const Tree& t) { return level < t.offers.size(); }); ++level)
      for (Tree& tree : trees_) {
        if (level >= tree.offers.size()) continue;
        for (const Offer& offer : std::exchange(tree.offers[level], {})) consider(tree, offer, level);
      }
    for (Rank u = 0; u < torus_.nodes(); ++u)
      if (u != root_) relieve(u, streams, 3);
    for (Tree& tree : trees_) measure(tree);
    return std::move(trees_);
  }

 private:
  void join(Tree& tree, Rank node, std::int32_t depth, std::size_t level) {
    at(tree.depth, node) = depth;
    for (int d = 0; d < ways_; ++d) later(tree, {node * ways_ + d}, level);
  }
  static void later(Tree& tree, Offer offer, std::size_t level) {
    if (tree.offers.size() <= level) tree.offers.resize(level + 1);
    tree.offers[level].push_back(offer);
  }

  void consider(Tree& tree, Offer offer, std::size_t level) {
    const auto u = static_cast<Rank>(offer.arc / ways_), v = at(to_, offer.arc);
    if (v < 0 || at(tree.depth, v) >= 0) return;
    const auto enough = u == root_ ? &tree - trees_.data() + 1 : streams;
    if (!offer.last && at(sends_, u) >= enough) return later(tree, {offer.arc, true}, level + last_);
    if (!spare(tree, u, v, offer.arc)) return;
    at(from_, v * ways_ + offer.arc % ways_) = -1;
    at(to_, offer.arc) = -1;
    at(tree.parent, v) = u;
    ++at(sends_, u);
    join(tree, v, at(tree.depth, u) + 1, level + 1);
  }

  // Lets others, over arcs that no tree took, send to what this node sends to, until it sends no more than `most`. Others that have
  // no stream to spare are relieved in their turn, if `deep`. Whether it worked.
  bool relieve(Rank u, int most, int deep) {
    for (Tree& tree : trees_)
      for (int d = 0; d < ways_ && at(sends_, u) > most; ++d) {
        const Rank v = torus_.neighbour(u, d);
        if (v < 0 || at(tree.parent, v) != u) continue;
        for (const bool recursive : {false, true})
          for (int e = 0; e < ways_ && at(tree.parent, v) == u; ++e) {
            const Rank w = at(from_, v * ways_ + e);
            if (w < 0 || w == root_ || below(tree, w, v)) continue;
            const bool room = at(sends_, w) < streams || (recursive && deep > 0 && relieve(w, streams - 1, deep - 1));
            if (!room || at(tree.parent, v) != u || at(from_, v * ways_ + e) != w || below(tree, w, v)) continue;
            at(from_, v * ways_ + e) = at(to_, w * ways_ + e) = -1;
            at(to_, u * ways_ + d) = v;
            at(from_, v * ways_ + d) = u;
            at(tree.parent, v) = w;
            --at(sends_, u);
            ++at(sends_, w);
          }
      }
    return at(sends_, u) <= most;
  }
  bool below(const Tree& tree, Rank node, Rank ancestor) const {
    while (node != root_ && node != ancestor) node = at(tree.parent, node);
    return node == ancestor;
  }
  void measure(Tree& tree) {
    std::ranges::fill(tree.depth, -1);
    at(tree.depth, root_) = 0;
    for (Rank leaf = 0; leaf < torus_.nodes(); ++leaf) {
      queue_.clear();
      for (Rank x = leaf; x >= 0 && at(tree.depth, x) < 0; x = at(tree.parent, x)) queue_.push_back(x);
      if (queue_.empty() || at(tree.parent, queue_.back()) < 0) continue;
      std::int32_t depth = at(tree.depth, at(tree.parent, queue_.back()));
      for (; !queue_.empty(); queue_.pop_back()) at(tree.depth, queue_.back()) = ++depth;
    }
  }

  // k paths to every node: a node that has them may stand for the root when others are looked at.
  bool connected(int k) {
    sources_.assign(nodes_, false);
    at(sources_, root_) = true;
    std::vector<Rank> ready{root_};
    for (std::size_t next = 0; next < ready.size(); ++next)
      for (int d = 0; d < ways_; ++d) {
        const Rank v = at(to_, ready[next] * ways_ + d);
        if (v < 0 || at(sources_, v)) continue;
        ++search_;
        for (int i = 0; i < k; ++i)
          if (!augment(v, -1, nullptr)) return false;
        at(sources_, v) = true;
        ready.push_back(v);
      }
    bool all = true;
    for (Rank v = 0; v < torus_.nodes(); ++v) all = all && (at(sources_, v) || !torus_.present(v));
    return all;
  }

  // Whether the tree may take the arc from u to v.
  bool spare(const Tree& tree, Rank u, Rank v, Arc arc) {
    ++search_;
    start_.assign(trees_.size(), -1);
    sources_.assign(0, false);
    source_ = u;
    for (std::size_t i = 1; i < trees_.size(); ++i)
      if (!augment(v, arc, &tree)) return false;
    return true;
  }

  bool is_source(Rank node) const { return sources_.empty() ? node == source_ : at(sources_, node); }

  // One more path to v, found backwards, that may push back earlier ones of this search.
  bool augment(Rank v, Arc without, const Tree* but) {
    ++look_;
    queue_.assign(1, v);
    at(seen_, v) = look_;
    std::uint32_t tried = 0;  // the trees that were tried for a path; each starts one at most
    for (std::size_t next = 0; next < queue_.size(); ++next) {
      const Rank x = queue_[next];
      for (std::size_t t = 0; but != nullptr && t < trees_.size(); ++t) {
        if (&trees_[t] == but || (tried >> t & 1) != 0 || at(trees_[t].depth, x) < 0) continue;
        tried |= 1U << t;
        from_tree_[t] = x;
        if (start_[t] < 0) return turn(x, t);
        visit(start_[t], -1 - static_cast<Arc>(t));
      }
      for (int d = 0; d < ways_; ++d) {
        const Rank before = at(from_, x * ways_ + d);
        const Arc in = before * ways_ + d, out = x * ways_ + d;
        if (before >= 0 && in != without && at(flow_, in) != search_ && visit(before, in)) return turn(before);
        if (at(to_, out) >= 0 && at(flow_, out) == search_ && visit(at(to_, out), out)) return turn(at(to_, out));
      }
    }
    return false;
  }
  // Comes to a node by an arc, forwards or backwards, or because its path is to start elsewhere; whether it is a source.
  bool visit(Rank node, Arc arc) {
    if (at(seen_, node) == look_) return false;
    at(seen_, node) = look_;
    at(by_, node) = arc;
    queue_.push_back(node);
    return is_source(node);
  }
  bool turn(Rank x, std::size_t tree) {
    start_[tree] = x;
    return turn(x);
  }
  // Turns over what the look came by, from a node to v.
  bool turn(Rank x) {
    while (x != queue_.front()) {
      const Arc a = at(by_, x);
      if (a < 0) {
        const auto t = static_cast<std::size_t>(-1 - a);
        x = start_[t] = from_tree_[t];
        continue;
      }
      const auto tail = static_cast<Rank>(a / ways_);
      at(flow_, a) = at(flow_, a) == search_ ? 0 : search_;
      x = x == tail ? at(to_, a) : tail;
    }
    return true;
  }

  const Torus& torus_;
  Rank root_, source_ = -1;
  int ways_;
  std::size_t nodes_, last_ = 1;
  std::vector<Rank> to_, from_;     // the other end of the arc that leaves, and of the one that arrives, in a direction; -1: none
  std::vector<std::int64_t> flow_;  // the search in which a path uses the arc
  std::vector<std::int64_t> seen_;  // the look that came to the node
  std::vector<Arc> by_;             // and by which arc, or, below 0, because of which tree
  std::vector<std::int32_t> sends_;
  std::vector<bool> sources_;
  std::vector<Rank> queue_, start_;
  std::array<Rank, 2 * most_axes> from_tree_{};
  std::vector<Tree> trees_;
  std::int64_t search_ = 0, look_ = 0;
};

using Packed = std::shared_ptr<const std::vector<Packing::Tree>>;

// The search lasts longer than all else that is done with its result, and schedules of several numbers of segments need the same.
Packed packing(const Torus& torus, Rank root, int most) {
  struct Last {
    Torus torus;
    Rank root;
    int most;
    Packed packed;
  };
  static thread_local std::optional<Last> last;
  if (!last || last->torus != torus || last->root != root || last->most != most)
    last = {torus, root, most, std::make_shared<const std::vector<Packing::Tree>>(Packing(torus, root, most).grow())};
  return last->packed;
}

}  // namespace

Trees arborescences(const Torus& torus, Rank root, int most) {
  if (torus.nodes() == 1) return {.count = 1, .place = [](int, Rank, std::span<Rank>) { return Trees::Place(); }};
  const auto packed = packing(torus, root, most);
  if (packed->empty()) throw Refused("missing ranks disconnect others from the root");
  Trees trees{.count = static_cast<int>(packed->size())};
  for (const Packing::Tree& tree : *packed) trees.depth = std::max(trees.depth, *std::ranges::max_element(tree.depth));
  trees.place = [packed, torus](int tree, Rank node, std::span<Rank> memory) {
    const Packing::Tree& t = (*packed)[static_cast<std::size_t>(tree)];
    std::size_t children = 0;
    for (int d = 0; d < torus.directions(); ++d)
      if (const Rank v = torus.neighbour(node, d); v >= 0 && t.parent[static_cast<std::size_t>(v)] == node) memory[children++] = v;
    return Trees::Place{t.parent[static_cast<std::size_t>(node)], t.depth[static_cast<std::size_t>(node)], memory.first(children)};
  };
  return trees;
}

}  // namespace fl::collectives
