// H's Laplacian and local potential, and the filter's recurrence in the same pass: out = alpha (H - shift) u + beta out.
#pragma once

#include "rsdft.hpp"

namespace rsdft {

// Lanes of so many states in one cell.
struct alignas(64) Pack {
  double at[lanes];
};
using Field = grid::Field<Pack, 3>;

// Coefficients of the second derivative, in units of 1 / spacing^2, by half the order: the middle, then the neighbours.
inline constexpr double differences[7][7] = {
    {},
    {-2, 1},
    {-5.0 / 2, 4.0 / 3, -1.0 / 12},
    {-49.0 / 18, 3.0 / 2, -3.0 / 20, 1.0 / 90},
    {-205.0 / 72, 8.0 / 5, -1.0 / 5, 8.0 / 315, -1.0 / 560},
    {-5269.0 / 1800, 5.0 / 3, -5.0 / 21, 5.0 / 126, -5.0 / 1008, 1.0 / 3150},
    {-5369.0 / 1800, 12.0 / 7, -15.0 / 56, 10.0 / 189, -1.0 / 112, 2.0 / 1925, -1.0 / 16632},
};

// -1/2 Laplacian: what a cell and its neighbours m steps away count.
struct Weights {
  double middle = 0, neighbour[7] = {};  // by m, from 1
  int radius = 0;

  explicit Weights(const Params& p) : radius(static_cast<int>(p.order / 2)) {
    const double scale = -0.5 / (p.spacing * p.spacing);
    middle = 3 * scale * differences[radius][0];
    for (int m = 1; m <= radius; ++m) neighbour[m] = scale * differences[radius][m];
  }
};

struct Bounded {
  // No state has more kinetic energy.
  static double most(const Weights& w) {
    double sum = w.middle;
    for (int m = 1; m <= w.radius; ++m) sum += 6 * std::fabs(w.neighbour[m]);
    return sum;
  }
};

struct Recurrence {
  double alpha, shift, beta;
};

// `u`, `out` and `potential` of a block's first cell, and strides in cells to the next plane and line: of the fields and of the potential.
struct Cells {
  const Pack* u;
  Pack* out;
  const double* potential;
  Index plane, line, potential_plane, potential_line;

  Cells from(Index i, Index j, Index k) const {
    Cells there = *this;
    there.u += i * plane + j * line + k, there.out += i * plane + j * line + k;
    there.potential += i * potential_plane + j * potential_line + k;
    return there;
  }
};

// Cell by cell, as the formula has it.
struct PlainStencil : Bounded {
  static void apply(const Cells& cells, const grid::Box<3>& box, const Weights& w, double trap, const Recurrence& r) {
    grid::each_row(box, [&](const grid::Point<3>& p, Index count) { row(cells.from(p[0], p[1], p[2]), count, w, trap, r); });
  }

 private:
  static void row(const Cells& first, Index count, const Weights& w, double trap, const Recurrence& r) {
    for (Index k = 0; k < count; ++k) {
      const Pack* u = first.u + k;
      Pack& out = first.out[k];
      const double local = w.middle + trap * first.potential[k] - r.shift;
      Pack sum;
      for (Index l = 0; l < lanes; ++l) sum.at[l] = local * u->at[l];
      for (Index m = 1; m <= w.radius; ++m) {
        const Pack &a = u[-m * first.plane], &b = u[m * first.plane], &c = u[-m * first.line], &d = u[m * first.line], &e = u[-m],
                   &f = u[m];
        for (Index l = 0; l < lanes; ++l) sum.at[l] += w.neighbour[m] * (((a.at[l] + b.at[l]) + (c.at[l] + d.at[l])) + (e.at[l] + f.at[l]));
      }
      for (Index l = 0; l < lanes; ++l) out.at[l] = r.alpha * sum.at[l] + r.beta * out.at[l];
    }
  }
};

}  // namespace rsdft
