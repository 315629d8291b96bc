// Tori and meshes of any number of axes, and trees in them.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "firstlight/collectives/schedule.hpp"

namespace fl::collectives {

inline constexpr int most_axes = 16;

// The nodes of Problem::shape and the links between them. Direction 2 a is + along axis a, 2 a + 1 is -; the first axis varies
// fastest in a rank. Two nodes are joined by one link each way at most: an axis of extent 2 has + links only.
class Torus {
 public:
  explicit Torus(const Problem& problem);
  Rank nodes() const { return nodes_; }
  int axes() const { return static_cast<int>(shape_.size()); }
  int directions() const { return 2 * axes(); }
  Rank extent(int axis) const { return shape_[index(axis)]; }
  Rank stride(int axis) const { return stride_[index(axis)]; }
  Rank coordinate(Rank node, int axis) const { return node / stride(axis) % extent(axis); }
  // The node `far` (below the extent in magnitude) further along the axis, round the ring.
  Rank along(Rank node, int axis, Rank far) const {
    const Rank at = coordinate(node, axis), to = (at + far + extent(axis)) % extent(axis);
    return node + (to - at) * stride(axis);
  }
  // The node at the other end of a link, or -1 where there is no link or no node.
  Rank neighbour(Rank node, int direction) const;
  bool present(Rank node) const { return missing_.empty() || !missing_[static_cast<std::size_t>(node)]; }
  // Every node and every wrapping link is there.
  bool full() const { return full_; }
  friend bool operator==(const Torus&, const Torus&) = default;

 private:
  static std::size_t index(int axis) { return static_cast<std::size_t>(axis); }
  std::vector<Rank> shape_, stride_;
  std::vector<bool> open_, missing_;
  Rank nodes_ = 1;
  bool full_ = true;
};

// Spanning trees directed away from a root that share no directed link.
struct Trees {
  struct Place {
    Rank parent = -1;               // -1: the root
    std::int32_t depth = 0;         // links from the root
    std::span<Rank> children = {};  // into the memory given
  };
  int count = 0;
  std::int32_t depth = 0;  // of the deepest
  // The place of a node in a tree; `memory` contains as many ranks as there are directions.
  std::function<Place(int tree, Rank node, std::span<Rank> memory)> place = nullptr;
};

// As many arc-disjoint spanning trees as the links allow, `most` at most: Edmonds 1973, by the constructive proof of Lovasz 1976,
// grown breadth first. A node sends `most` streams if it can, the root one a tree. Raises Refused where nodes are cut off.
Trees arborescences(const Torus& torus, Rank root, int most);

// Makes one train per tree, each with as many segments as the problem has: up to the root if `up`, down again if `down`.
Schedule trains(const Problem& problem, const Trees& trees, bool up, bool down);

}  // namespace fl::collectives
