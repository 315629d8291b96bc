// Stone's solver and red-black relaxation cell by cell: what the threads of a device do, each cell by one of them, and, where there is no
// device, a loop (a machine: cuda_machine.hpp, target_machine.hpp, emulated_machine.hpp). The cells of a launch depend on none of each
// other: those of one colour; those of one hyperplane i + j + k of a substitution, which need only the one before.
#pragma once

#include "firstlight/host_device.hpp"
#include "sip.hpp"

namespace cfd {

// Cells of a block, by addresses of cell (0, 0, 0).
struct Cells {
  const double *a[7] = {}, *b = nullptr;
  double* x = nullptr;
  Index south = 0, bottom = 0, size[3] = {};

  FL_DEVICE Index at(Index k, Index j, Index i) const { return k * bottom + j * south + i; }
  FL_DEVICE double residual(Index c) const {
    return b[c] - a[P][c] * x[c] - a[W][c] * x[c - 1] - a[E][c] * x[c + 1] - a[S][c] * x[c - south] - a[N][c] * x[c + south] -
           a[B][c] * x[c - bottom] - a[T][c] * x[c + bottom];
  }
};
FL_DEVICE double magnitude(double v) { return v < 0 ? -v : v; }

// A launch is count() calls with 0, 1, ...; what they return is summed.

struct NormOfB {
  Cells cells;
  FL_DEVICE Index count() const { return cells.size[0] * cells.size[1] * cells.size[2]; }
  FL_DEVICE double operator()(Index n) const {
    const Index i = n % cells.size[2], row = n / cells.size[2];
    return magnitude(cells.b[cells.at(row / cells.size[1], row % cells.size[1], i)]);
  }
};

// Solves the equations of the cells of a colour. Returns the sum of the |b - A x| that they had.
struct RelaxColour {
  Cells cells;
  Index colour = 0;  // 0: that of cell (0, 0, 0)
  FL_DEVICE Index pairs() const { return (cells.size[2] + 1) / 2; }
  FL_DEVICE Index count() const { return cells.size[0] * cells.size[1] * pairs(); }
  FL_DEVICE double operator()(Index n) const {
    const Index row = n / pairs(), k = row / cells.size[1], j = row % cells.size[1], i = 2 * (n % pairs()) + (colour + k + j) % 2;
    if (i >= cells.size[2]) return 0;
    const Index c = cells.at(k, j, i);
    const double r = cells.residual(c);
    cells.x[c] += r / cells.a[P][c];
    return magnitude(r);
  }
};

// What is done to the cells with i + j + k = plane.
template <class Cell>
struct Hyperplane {
  Cell cell;
  Index plane = 0;
  FL_DEVICE Index count() const { return cell.cells.size[0] * cell.cells.size[1]; }
  FL_DEVICE double operator()(Index n) const {
    const Index k = n / cell.cells.size[1], j = n % cell.cells.size[1], i = plane - k - j;
    return i >= 0 && i < cell.cells.size[2] ? cell(k, j, i) : 0;
  }
};

struct SipFactorCell {
  Cells cells;
  SipFactor::View f;
  double alpha = 0;
  FL_DEVICE double operator()(Index k, Index j, Index i) const {
    factor_cell(cells, f, alpha, cells.size, k, j, i);
    return 0;
  }
};

// L q = b - A x; the sum of |b - A x|.
struct SipForwardCell {
  Cells cells;
  SipFactor::View f;
  double* q = nullptr;
  FL_DEVICE double operator()(Index k, Index j, Index i) const {
    const Index c = cells.at(k, j, i);
    const double r = cells.residual(c);
    q[c] = r * f.lp[c] - f.lb[c] * q[c - cells.bottom] - f.ls[c] * q[c - cells.south] - f.lw[c] * q[c - 1];
    return magnitude(r);
  }
};

// U q = q
struct SipBackwardCell {
  Cells cells;
  SipFactor::View f;
  double* q = nullptr;
  FL_DEVICE double operator()(Index k, Index j, Index i) const {
    const Index c = cells.at(k, j, i);
    q[c] -= f.ut[c] * q[c + cells.bottom] + f.un[c] * q[c + cells.south] + f.ue[c] * q[c + 1];
    return 0;
  }
};

// x += q
struct SipCorrectCell {
  Cells cells;
  const double* q = nullptr;
  FL_DEVICE Index count() const { return cells.size[0] * cells.size[1] * cells.size[2]; }
  FL_DEVICE double operator()(Index n) const {
    const Index row = n / cells.size[2], c = cells.at(row / cells.size[1], row % cells.size[1], n % cells.size[2]);
    cells.x[c] += q[c];
    return 0;
  }
};

}  // namespace cfd
