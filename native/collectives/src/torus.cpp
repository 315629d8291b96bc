#include "firstlight/collectives/torus.hpp"

#include <algorithm>
#include <functional>
#include <string>

namespace fl::collectives {

Torus::Torus(const Problem& problem) : shape_(problem.shape), open_(problem.open) {
  if (axes() > most_axes) throw Refused("a torus has at most " + std::to_string(most_axes) + " axes");
  open_.resize(shape_.size());
  for (const Rank extent : shape_) {
    stride_.push_back(nodes_);
    nodes_ *= extent;
  }
  if (!problem.missing.empty()) missing_.resize(static_cast<std::size_t>(nodes_));
  for (const Rank r : problem.missing) missing_[static_cast<std::size_t>(r)] = true;
  full_ = problem.missing.empty() && std::ranges::none_of(open_, std::identity());
}

Rank Torus::neighbour(Rank node, int direction) const {
  const int axis = direction / 2;
  const Rank far = direction % 2 == 0 ? 1 : -1, length = extent(axis), to = coordinate(node, axis) + far;
  if (length == 1) return -1;
  if (open_[index(axis)] ? to < 0 || to >= length : length == 2 && far < 0) return -1;
  const Rank there = along(node, axis, far);
  return present(node) && present(there) ? there : -1;
}

}  // namespace fl::collectives
