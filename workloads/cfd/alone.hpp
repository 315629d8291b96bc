// Who works on the rows of a block: one thread of one process.
#pragma once

#include <vector>

#include "plain_rows.hpp"

namespace cfd {

// One process, of one thread or several: no other process has a part of a grid.
struct OneProcess {
  struct Halo {
    template <class... Fields>
    void open(const grid::Block<3>&, grid::Reach, Fields&...) {}
    void start() {}
    void finish() {}
    void operator()() {}
  };
  template <class Real>
  struct Gather {
    void open(const std::vector<grid::Box<3>>&, int /*rank*/) {}
    void operator()(const FieldOf<Real>&, FieldOf<Real>&) {}
  };
  void exchange() {}
  Sums total(const Sums& mine) { return mine; }
};

struct Alone : OneProcess {
  // `halos`: the fields whose halos exchange() fills.
  template <class... Fields>
  void open(const grid::Block<3>&, int /*threads*/, Fields&... /*halos*/) {}

  // row(k, j) for each row; returns the sums of what they return.
  template <class Row>
  Sums each(const Point& size, Row row) {
    Sums sums;
    for (Index k = 0; k < size[0]; ++k)
      for (Index j = 0; j < size[1]; ++j) sums += row(k, j);
    return sums;
  }
  // Cells of a plane whose ten arrays stay in a second-level cache until black comes.
  static constexpr Index cached_cells = 6000;
  // red(k, j) for each row, and black(k, j) once red has been everywhere next to it: one pass through memory,
  // so many cells of a plane at a time.
  template <class Red, class Black>
  Sums both(const Point& size, Red red, Black black, Index cells = cached_cells) {
    const Index tile = std::max<Index>(cells / size[2], 1);
    std::vector<Sums> rows(static_cast<std::size_t>(size[0] * size[1]));  // added in their order, whatever the tiles
    for (Index begin = 0; begin < size[1]; begin += tile) {
      const Index end = std::min(begin + tile, size[1]), black_end = end == size[1] ? end : end - 1;
      for (Index k = 0; k <= size[0]; ++k) {
        for (Index j = begin; j < end && k < size[0]; ++j) rows[static_cast<std::size_t>(k * size[1] + j)] = red(k, j);
        for (Index j = std::max<Index>(begin - 1, 0); j < black_end && k > 0; ++j) black(k - 1, j);
      }
    }
    Sums sums;
    for (const Sums& row : rows) sums += row;
    return sums;
  }
  // Rows shared out as in both().
  template <class Row>
  void slabs(const Point& size, Row row) {
    each(size, [&](Index k, Index j) { return row(k, j), Sums{}; });
  }
  // As each(), where a row needs those below and to the south.
  template <class Row>
  Sums upwards(const Point& size, Row row) {
    return each(size, row);
  }
  // And where it needs those above and to the north.
  template <class Row>
  Sums downwards(const Point& size, Row row) {
    Sums sums;
    for (Index k = size[0]; k-- > 0;)
      for (Index j = size[1]; j-- > 0;) sums += row(k, j);
    return sums;
  }
};

}  // namespace cfd
