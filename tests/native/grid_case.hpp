// One rank of an exchange under test: three fields of different elements and halos, filled with marks and inspected.
#pragma once

#include <optional>

#include "../support/heap.hpp"
#include "firstlight/grid/grid.hpp"

namespace test {

namespace grid = fl::grid;
using fl::Index;

struct Triple {
  char bytes[3];
};

// So many shares, one after the other: what a team of threads does.
struct Shares {
  Index count = 1;
  template <class Work>
  void operator()(Work work) const {
    for (Index share = 0; share < count; ++share) work(share, count);
  }
};

// The second field's halo is narrower by one, the third one has as much less in every other dimension. The first two are cut into strips where
// rows are longer than 8 cells.
template <std::size_t D>
std::vector<grid::FieldShape<D>> shapes(const grid::Point<D>& halo) {
  grid::Point<D> narrow = halo, uneven = halo;
  for (std::size_t d = 0; d < D; ++d) {
    narrow[d] = std::max<Index>(0, halo[d] - 1);
    if (d % 2 == 1) uneven[d] = narrow[d];
  }
  return {{halo, sizeof(double), alignof(double)}, {narrow, sizeof(float), alignof(float)}, {uneven, sizeof(Triple), alignof(Triple)}};
}

template <std::size_t D, class Transport>
struct Rank {
  grid::Block<D> block;
  grid::Options options;
  grid::Field<double, D> a;
  grid::Field<float, D> b;
  grid::Field<Triple, D> c;
  grid::Exchange<D, Transport> exchange;

  Rank(const grid::Block<D>& block, const grid::Options& options, Index alignment)
      : block(block),
        options(options),
        a(block.size(), shapes<D>(block.domain.halo)[0].halo, alignment, 8),
        b(block.size(), shapes<D>(block.domain.halo)[1].halo, alignment, 8),
        c(block.size(), shapes<D>(block.domain.halo)[2].halo, alignment) {}
  void open(const Transport& transport) { exchange.open(block, options, transport, a, b, c); }

  void fill(Index iteration) {
    put_marks(a, block, 0, iteration);
    put_marks(b, block, 1, iteration);
    put_marks(c, block, 2, iteration);
  }
  grid::Damage damage(Index iteration, const grid::Options& expected) const {
    grid::Damage d;
    inspect(a, block, expected, 0, iteration, d);
    inspect(b, block, expected, 1, iteration, d);
    inspect(c, block, expected, 2, iteration, d);
    return d;
  }
};

}  // namespace test
