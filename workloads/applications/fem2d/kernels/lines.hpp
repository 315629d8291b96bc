// The sides of a block that other blocks have, too, on one level.
#pragma once

#include "grid.hpp"

namespace fem2d {

// Values on the sides that a block shares with others.
class Lines {
 public:
  Lines() = default;
  Lines(fl::Index nx, fl::Index ny, const std::vector<const Segment*>& frame) : nx_(nx), ny_(ny) {
    for (const Segment* segment : frame) {
      const bool along_x = segment->di != 0;
      Side& side = along_x ? (segment->j == 0 ? south_ : north_) : (segment->i == 0 ? west_ : east_);
      side.assign(static_cast<std::size_t>((along_x ? nx : ny) + 1), 0.0);
    }
  }

  void clear() {
    for (Side* side : {&south_, &north_, &west_, &east_}) std::fill(side->begin(), side->end(), 0.0);
  }

  template <class F>  // f(value&) for each line that contains the node
  void at(fl::Index i, fl::Index j, F f) {
    const auto x = static_cast<std::size_t>(i), y = static_cast<std::size_t>(j);
    if (j == 0 && !south_.empty()) f(south_[x]);
    if (j == ny_ && !north_.empty()) f(north_[x]);
    if (i == 0 && !west_.empty()) f(west_[y]);
    if (i == nx_ && !east_.empty()) f(east_[y]);
  }

  // The value of a shared node, or `inner` for another.
  double value(fl::Index i, fl::Index j, double inner) {
    at(i, j, [&](double v) { inner = v; });
    return inner;
  }

  void overwrite(double* row, fl::Index j) const {
    if (j == 0 && !south_.empty()) std::copy(south_.begin(), south_.end(), row);
    if (j == ny_ && !north_.empty()) std::copy(north_.begin(), north_.end(), row);
    if (!west_.empty()) row[0] = west_[static_cast<std::size_t>(j)];
    if (!east_.empty()) row[nx_] = east_[static_cast<std::size_t>(j)];
  }

 private:
  using Side = std::vector<double>;
  fl::Index nx_ = 0, ny_ = 0;
  Side south_, north_, west_, east_;
};

}  // namespace fem2d
