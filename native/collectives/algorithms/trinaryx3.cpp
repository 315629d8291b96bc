// Trinaryx3: three spanning trees of a 3-D torus that share no link, each for a third of the message, in + links alone; a reduction
// uses them backwards, in - links alone, so both go on at once. Where the torus has an axis of extent 1, is not 3-D, is open or
// lacks nodes, arc-disjoint trees are searched for, up to three; reduction and broadcast may then share links.
#include <array>

#include "firstlight/collectives/algorithm.hpp"
#include "firstlight/collectives/torus.hpp"

namespace fl::collectives {

namespace {

// Trees by rule. In coordinates relative to the root, the parent in tree t is along axis t if that coordinate is zero (round the
// ring), else along the first of t + 2, t + 1, t whose coordinate is not. So the depth is the sum of the coordinates, a zero of axis t
// counting as its extent.
class Rule {
 public:
  Rule(const Torus& torus, Rank root) : torus_(torus), root_(root) {}

  Trees::Place operator()(int tree, Rank node, std::span<Rank> memory) const {
    Trees::Place place;
    std::array<Rank, 3> at;
    for (int a = 0; a < 3; ++a) {
      const Rank far = torus_.coordinate(node, a) - torus_.coordinate(root_, a);
      at[index(a)] = far < 0 ? far + torus_.extent(a) : far;
      place.depth += at[index(a)];
    }
    if (node != root_) {
      if (at[index(tree)] == 0) place.depth += torus_.extent(tree);
      place.parent = torus_.along(node, axis(tree, at), -1);
    }
    std::size_t children = 0;
    for (int a = 0; a < 3; ++a) {
      std::array<Rank, 3> child = at;
      child[index(a)] = at[index(a)] + 1 == torus_.extent(a) ? 0 : at[index(a)] + 1;
      if (child != std::array<Rank, 3>{} && axis(tree, child) == a) memory[children++] = torus_.along(node, a, 1);
    }
    place.children = memory.first(children);
    return place;
  }

 private:
  static std::size_t index(int axis) { return static_cast<std::size_t>(axis); }
  static int axis(int tree, const std::array<Rank, 3>& at) {
    if (at[index(tree)] == 0) return tree;
    for (const int a : {(tree + 2) % 3, (tree + 1) % 3})
      if (at[index(a)] != 0) return a;
    return tree;
  }
  Torus torus_;
  Rank root_;
};

Trees trees(const Problem& p) {
  const Torus torus(p);
  if (torus.full() && torus.axes() == 3 && torus.extent(0) > 1 && torus.extent(1) > 1 && torus.extent(2) > 1)
    return {.count = 3, .depth = torus.extent(0) + torus.extent(1) + torus.extent(2) - 2, .place = Rule(torus, p.root)};
  return arborescences(torus, p.root, 3);
}

Schedule broadcast(const Problem& p) { return trains(p, trees(p), false, true); }
Schedule reduce(const Problem& p) { return trains(p, trees(p), true, false); }
Schedule allreduce(const Problem& p) { return trains(p, trees(p), true, true); }

}  // namespace

FL_ALGORITHM(trinaryx3){
    .name = "trinaryx3",
    .title = "Trinaryx3: three link-disjoint trees",
    .source =
        "Adachi, Shida, Miura, Sumimoto, Uno, Kurokawa, Shoji, Yokokawa 2013, The Design of Ultra Scalable MPI Collective "
        "Communication on the K Computer; elsewhere Edmonds 1973, Edge-Disjoint Branchings, and Lovasz 1976, On Two Minimax "
        "Theorems in Graph",
    .forms = {{{Collective::broadcast, broadcast}, {Collective::reduce, reduce}, {Collective::allreduce, allreduce}}},
    .pipelined = true,
    .torus = true,
    .holes = true};

}  // namespace fl::collectives
