// Node grids and how they are cut: a block is a rectangle of coarse squares with all of its nodes, edges included, on every level.
//
// Level k has 8 * 2^k cells a side; the finest, L + 1, contains all nodes of the quadratic elements (vertices where both indices are
// even, mid-points elsewhere). Neighbouring blocks share the nodes of their common edge.
#pragma once

#include <algorithm>
#include <vector>

#include "firstlight/workload.hpp"

namespace fem2d {

inline constexpr fl::Index coarse_cells = 8;  // a side of the square, on level 0

inline fl::Index cells(fl::Index level) { return coarse_cells << level; }

// A rectangle of nodes (0..nx) x (0..ny), x fastest. Zeros lie around every row, so that loops may look beyond its ends.
template <class Real>
class GridOf {
 public:
  static constexpr fl::Index pad = 64 / sizeof(Real);

  GridOf() = default;
  GridOf(fl::Index nx, fl::Index ny) : nx(nx), ny(ny), stride_((nx + 1 + 2 * pad + pad - 1) / pad * pad), memory_((ny + 3) * stride_) {}

  Real* row(fl::Index j) { return memory_.data() + (j + 1) * stride_ + pad; }
  const Real* row(fl::Index j) const { return memory_.data() + (j + 1) * stride_ + pad; }
  Real& at(fl::Index i, fl::Index j) { return row(j)[i]; }
  Real at(fl::Index i, fl::Index j) const { return row(j)[i]; }
  fl::Index stride() const { return stride_; }
  fl::Array<Real>& memory() { return memory_; }
  void clear() { std::fill(memory_.begin(), memory_.end(), Real(0)); }

  fl::Index nx = 0, ny = 0;

 private:
  fl::Index stride_ = 0;
  fl::Array<Real> memory_;
};

using Grid = GridOf<double>;
using Grid32 = GridOf<float>;

// A run of nodes on a grid of either precision: what two neighbours share on one level.
struct Segment {
  Grid* grid;
  Grid32* grid32;
  fl::Index i, j, di, dj, count;

  template <class F>  // visit(double&) or visit(float&)
  void each(F visit) const {
    if (grid != nullptr)
      along(*grid, visit);
    else
      along(*grid32, visit);
  }

 private:
  template <class G, class F>
  void along(G& g, F visit) const {
    for (fl::Index k = 0; k < count; ++k) visit(g.at(i + k * di, j + k * dj));
  }
};

// What a block shares with one other block, on all levels, in an order that both know.
struct Link {
  int block = 0;
  std::vector<Segment> shared;
  std::vector<double> out, in;
  const double* arriving = nullptr;  // `in`, or the other block's `out` where it lives in the same process

  void pack() {
    double* next = out.data();
    for (const Segment& segment : shared) segment.each([&](double value) { *next++ = value; });
  }
};

// The cut: `rows` x `columns` blocks; `base` is the coarsest level on which every block has cells of its own.
struct Cut {
  int rows = 1, columns = 1;
  fl::Index base = 0;

  int blocks() const { return rows * columns; }

  // First coarse line, counted in cells of level `base`, of part p of `parts`.
  fl::Index line(int p, int parts) const { return cells(base) * p / parts; }
};

inline Cut cut(int blocks, fl::Index rows) {
  Cut c;
  if (rows > 0) {
    c.rows = static_cast<int>(rows);
  } else {
    for (int r = 1; r * r <= blocks; ++r)
      if (blocks % r == 0) c.rows = r;
  }
  c.columns = blocks / c.rows;
  while (cells(c.base) < std::max(c.rows, c.columns)) ++c.base;
  return c;
}

// One part of the problem. Residuals are additive on shared nodes (the true value is the sum over blocks), x and s accumulated.
struct Block {
  int number = 0;
  fl::Index i0 = 0, j0 = 0;                                       // of its first node, in the finest grid
  bool bottom = false, top = false;                               // has the Dirichlet boundary y = 0, y = 1
  bool south = false, north = false, west = false, east = false;  // shares that side with another block
  Grid x, r, s;                                                   // finest level
  std::vector<Grid> coarse;      // levels 0..L; up to `base` the whole square, from there on the block's part
  std::vector<Grid32> coarse32;  // the same instead, where the preconditioner has 32 bits
  std::vector<Link> links;       // ascending by block
  std::vector<Segment> frame;    // every shared node once
  std::vector<double> own;       // additive values on the frame
};

template <class Real>
std::vector<GridOf<Real>>& levels(Block& b) {
  if constexpr (sizeof(Real) == 4)
    return b.coarse32;
  else
    return b.coarse;
}

}  // namespace fem2d
