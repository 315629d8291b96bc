// The nodes that a block shares with others: additive values there become accumulated ones, and back.
#pragma once

#include "grid.hpp"

namespace fem2d {

class Shared {
 public:
  explicit Shared(Block& block) : b_(block) {
    std::size_t at = 0;
    for (const Segment& segment : b_.frame) {
      if (segment.grid == &b_.r) fine_.push_back({&segment, at});
      at += static_cast<std::size_t>(segment.count);
    }
  }

  void pack() {
    double* next = b_.own.data();
    for (const Segment& segment : b_.frame) segment.each([&](double value) { *next++ = value; });
    for (Link& link : b_.links) link.pack();
  }

  // Adds what arrived, in the order of the blocks, so that every owner of a node finds the same bits. Returns this
  // block's share of their squares: a node of an edge belongs to two blocks, of a corner to four.
  double accumulate() {
    for (const Segment& segment : b_.frame) segment.each([](auto& value) { value = 0; });
    bool mine = false;
    for (const Link& link : b_.links) {
      if (!mine && link.block > b_.number) mine = add_own();
      const double* next = link.arriving;
      for (const Segment& segment : link.shared)
        segment.each([&](auto& value) { value += static_cast<std::remove_reference_t<decltype(value)>>(*next++); });
    }
    if (!mine) add_own();
    double squares = 0;
    for (const Segment& segment : b_.frame) {
      fl::Index i = segment.i;
      segment.each([&](double value) {
        const bool corner = segment.di != 0 && ((b_.west && i == 0) || (b_.east && i == segment.count - 1));
        squares += value * value / (corner ? 4 : 2);
        i += segment.di;
      });
    }
    return squares;
  }

  // Row j of r has its additive values again.
  void restore(fl::Index j) {
    for (const auto& [segment, at] : fine_) {
      const double* own = b_.own.data() + at;
      if (segment->di != 0 && segment->j == j) std::copy_n(own, segment->count, b_.r.row(j) + segment->i);
      if (segment->dj != 0 && j >= segment->j && j < segment->j + segment->count) b_.r.at(segment->i, j) = own[j - segment->j];
    }
  }

 private:
  bool add_own() {
    const double* next = b_.own.data();
    for (const Segment& segment : b_.frame)
      segment.each([&](auto& value) { value += static_cast<std::remove_reference_t<decltype(value)>>(*next++); });
    return true;
  }

  struct Fine {
    const Segment* segment;
    std::size_t at;
  };

  Block& b_;
  std::vector<Fine> fine_;
};

}  // namespace fem2d
