// What a thread of a device does, kernel by kernel; on a processor the same bodies run as fibers (firstlight/block.hpp).
#pragma once

#include "firstlight/block.hpp"
#include "update.hpp"

namespace fdtd2d {

inline constexpr int tile_rows = 8, tile_columns = 32;  // cells of a block, a thread each
inline constexpr fl::Extent tile_threads{tile_columns, tile_rows};

struct Nothing {};

// The cell of a thread, its place in the block, and whether the kernel computes it.
struct Cell {
  Index i, j;
  int y, x;
  bool inside;
};

// Those that a kernel computes, by blocks from the first on: rows and columns up to the ends.
struct Part {
  Index row = 0, column = 0, end_row = 0, end_column = 0;

  template <class B>
  FL_DEVICE Cell cell(const B& block) const {
    const int y = block.thread.y, x = block.thread.x;
    const Index i = row + static_cast<Index>(block.place.y) * tile_rows + y;
    const Index j = column + static_cast<Index>(block.place.x) * tile_columns + x;
    return {i, j, y, x, i < end_row && j < end_column};
  }
  fl::Extent blocks() const {
    return {static_cast<int>((end_column - column + tile_columns - 1) / tile_columns),
            static_cast<int>((end_row - row + tile_rows - 1) / tile_rows)};
  }
};

// --- a thread a cell, everything from memory: what directives make, too ------------------------------------------------------

template <class T>
struct CellsE {
  using Shared = Nothing;
  Job<T> job;
  Part part;
  Index t = 0;

  template <class B>
  FL_DEVICE void operator()(const B& block, Shared&) const {
    const Cell cell = part.cell(block);
    if (cell.inside) job.e(cell.i, cell.j, t);
  }
};

template <class T>
struct CellsH {
  using Shared = Nothing;
  Job<T> job;
  Part part;

  template <class B>
  FL_DEVICE void operator()(const B& block, Shared&) const {
    const Cell cell = part.cell(block);
    if (cell.inside) job.h(cell.i, cell.j);
  }
};

// --- neighbours from shared memory ------------------------------------------------------------------------------------------

// H next to a node: at it, and before it along i and along j.
template <class T>
struct AroundE {
  T hy, hy_before, hx, hx_before;
};

// E of a cell after time step t, and what layers remember.
template <class T>
struct NewE {
  T ez, psi_ex, psi_ey;
};
template <class T>
FL_DEVICE NewE<T> new_e(const Job<T>& job, Index i, Index j, Index t, const AroundE<T>& h) {
  const T cb = job.cb(i, j);
  NewE<T> now{updated_ez<T>(job.ez(i, j), job.ca(i, j), cb, h.hy, h.hy_before, h.hx, h.hx_before), T(0), T(0)};
  if (job.absorbs_i(i)) {
    now.psi_ex = job.be[i] * job.psi_ex(i, j) + job.ce[i] * (h.hy - h.hy_before);
    now.ez += cb * now.psi_ex;
  }
  if (job.absorbs_j(j)) {
    now.psi_ey = job.be_j[j] * job.psi_ey(i, j) + job.ce_j[j] * (h.hx - h.hx_before);
    now.ez -= cb * now.psi_ey;
  }
  if (i == job.source_i && j == job.source_j) now.ez += job.pulse[t];
  return now;
}
template <class T>
FL_DEVICE void keep(const Job<T>& job, Index i, Index j, const NewE<T>& now) {
  job.ez(i, j) = now.ez;
  if (job.absorbs_i(i)) job.psi_ex(i, j) = now.psi_ex;
  if (job.absorbs_j(j)) job.psi_ey(i, j) = now.psi_ey;
}

// H of a cell from E at its node and at the next ones along i and j. What layers remember of H only its own cell reads.
template <class T>
FL_DEVICE void new_h(const Job<T>& from, const Job<T>& to, Index i, Index j, T ez, T ez_i, T ez_j) {
  T hx = updated_hx<T>(from.hx(i, j), from.s, ez, ez_j), hy = updated_hy<T>(from.hy(i, j), from.s, ez, ez_i);
  if (from.absorbs_i(i)) {
    const T psi = from.bh[i] * from.psi_hy(i, j) + from.ch[i] * (ez_i - ez);
    from.psi_hy(i, j) = psi;
    hy += from.s * psi;
  }
  if (from.absorbs_j(j)) {
    const T psi = from.bh_j[j] * from.psi_hx(i, j) + from.ch_j[j] * (ez_j - ez);
    from.psi_hx(i, j) = psi;
    hx -= from.s * psi;
  }
  to.hx(i, j) = hx, to.hy(i, j) = hy;
}

template <class T>
struct TilesE {
  struct Shared {
    T hx[tile_rows][tile_columns + 1], hy[tile_rows + 1][tile_columns];  // with those before the first
  };
  Job<T> job;
  Part part;
  Index t = 0;

  template <class B>
  FL_DEVICE void operator()(const B& block, Shared& tile) const {
    const auto [i, j, y, x, inside] = part.cell(block);
    if (inside) {
      tile.hx[y][x + 1] = job.hx(i, j), tile.hy[y + 1][x] = job.hy(i, j);
      if (x == 0) tile.hx[y][0] = job.hx(i, j - 1);
      if (y == 0) tile.hy[0][x] = job.hy(i - 1, j);
    }
    block.barrier();
    if (inside) keep(job, i, j, new_e(job, i, j, t, AroundE<T>{tile.hy[y + 1][x], tile.hy[y][x], tile.hx[y][x + 1], tile.hx[y][x]}));
  }
};

// E of a block of cells and of those behind its last row and column.
template <class T>
struct TileOfE {
  T ez[tile_rows + 1][tile_columns + 1];
};

template <class T>
struct TilesH {
  using Shared = TileOfE<T>;
  Job<T> job;
  Part part;

  template <class B>
  FL_DEVICE void operator()(const B& block, Shared& tile) const {
    const auto [i, j, y, x, inside] = part.cell(block);
    if (inside) {
      tile.ez[y][x] = job.ez(i, j);
      if (y == tile_rows - 1 || i == part.end_row - 1) tile.ez[y + 1][x] = job.ez(i + 1, j);
      if (x == tile_columns - 1 || j == part.end_column - 1) tile.ez[y][x + 1] = job.ez(i, j + 1);
    }
    block.barrier();
    if (inside) new_h(job, job, i, j, tile.ez[y][x], tile.ez[y + 1][x], tile.ez[y][x + 1]);
  }
};

// --- E and H in one sweep: 8 numbers a cell instead of 11 ---------------------------------------------------------------------

// A block computes E of its cells and of those behind its last row and column, which another block computes, too, and from them H. So
// results go to a second set of fields. The whole grid is one block of cells here: nothing comes from other ranks.
template <class T>
struct Fused {
  using Shared = TileOfE<T>;
  Job<T> from, to;
  Part part;
  Index t = 0;
  bool around = false;  // a torus

  template <class B>
  FL_DEVICE void operator()(const B& block, Shared& tile) const {
    const auto [i, j, y, x, inside] = part.cell(block);
    if (inside) {
      const NewE<T> mine = e(i, j);
      keep(to, i, j, mine);
      tile.ez[y][x] = mine.ez;
      if (y == tile_rows - 1 || i == from.rows - 1) tile.ez[y + 1][x] = beyond(i + 1, j);
      if (x == tile_columns - 1 || j == from.columns - 1) tile.ez[y][x + 1] = beyond(i, j + 1);
    }
    block.barrier();
    if (inside) new_h(from, to, i, j, tile.ez[y][x], tile.ez[y + 1][x], tile.ez[y][x + 1]);
  }

 private:
  FL_DEVICE NewE<T> e(Index i, Index j) const {
    const Index above = around && i == 0 ? from.rows - 1 : i - 1, left = around && j == 0 ? from.columns - 1 : j - 1;
    return new_e(from, i, j, t, AroundE<T>{from.hy(i, j), from.hy(above, j), from.hx(i, j), from.hx(i, left)});
  }
  // Behind the last row or column: of a torus the first one, else the wall.
  FL_DEVICE T beyond(Index i, Index j) const {
    if (!around && (i == from.rows || j == from.columns)) return T(0);
    return e(i == from.rows ? 0 : i, j == from.columns ? 0 : j).ez;
  }
};

// --- a torus that is its own neighbour ----------------------------------------------------------------------------------------

// A box of cells to another place of the same field, a thread a cell.
inline constexpr int copying_threads = 128;
template <class T>
struct CopyBox {
  using Shared = Nothing;
  T* to = nullptr;
  const T* from = nullptr;
  Index stride[2] = {}, size[2] = {};

  template <class B>
  FL_DEVICE void operator()(const B& block, Shared&) const {
    const Index k = static_cast<Index>(block.place.x) * copying_threads + block.thread.x;
    if (k < size[0] * size[1]) grid::copy_cell<2>(to, stride, from, stride, size, k);
  }
};

}  // namespace fdtd2d
