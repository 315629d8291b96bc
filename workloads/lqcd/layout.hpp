// Where the numbers of a block lie in memory, for every layout; known at run time, so that the judge (compiled without the vector
// flags under test) fills and reads what the kernels use.
//
// The block splits into `lanes` sub-lattices of equal extents (`outer`), one per SIMD lane: dimension mu into split[mu] of them. An
// outer site stands for `lanes` sites, one in each sub-lattice, at the same coordinates within it. With one lane this is an ordinary
// array of sites. Outer sites are in even-odd order: all even ones, then all odd ones, each in rows along z:
//   outer site (t, x, y, z)  ->  parity * half_volume + row * half_row + z / 2,   row = (t * outer[1] + x) * outer[2] + y
// Spinors: 24 reals an outer site, (spin * 3 + colour) * 2 + reim, each a vector of `lanes` numbers. Links: 4 * 18 reals an outer
// site, mu * 18 + (row * 3 + column) * 2 + reim. Every link is stored once. Where fermions are antiperiodic, the links that lead from
// the last to the first time slice are stored with the opposite sign, so no kernel handles boundaries.
#pragma once

#include "fields.hpp"

namespace lqcd {

struct Layout {
  Lattice lattice;
  int lanes = 1;
  Extents split{1, 1, 1, 1}, outer{}, stride{1, 1, 1, 1};  // lane = sum over mu of digit * stride
  Index rows = 0, half_row = 0, half_volume = 0;           // half_volume = outer sites of one parity

  bool colours_outside = false;  // spinors as (spin / 2, colour, spin % 2, reim): what SIMD within a site loads as one vector

  Layout() = default;

  // Dimensions are halved until there are enough parts: those first that no process grid cuts, then z and y while they leave rows of
  // some length; t last, for kernels walk along t and want to find the slice behind them in cache. Sub-lattices keep even extents, so
  // that all lanes of an outer site have its parity.
  Layout(const Lattice& block, int lanes_wanted) : lattice(block), lanes(lanes_wanted), outer(block.local) {
    for (int left = lanes; left > 1; left /= 2) {
      const std::size_t mu = best_to_split();
      if (mu == 4) {
        lanes = 0;
        return;
      }
      outer[mu] /= 2;
      split[mu] *= 2;
    }
    stride[3] = 1;
    for (std::size_t mu = 3; mu-- > 0;) stride[mu] = stride[mu + 1] * split[mu + 1];
    rows = outer[0] * outer[1] * outer[2];
    half_row = outer[3] / 2;
    half_volume = rows * half_row;
  }

  // Whether the block could be split over the lanes at all.
  bool valid() const { return lanes > 0; }

  Index spinor_size() const { return 2 * half_volume * spinor_reals * lanes; }  // of both parities, in reals
  Index links_size() const { return 2 * half_volume * 4 * matrix_reals * lanes; }
  Index parity_offset(int p) const { return p * half_volume * spinor_reals * lanes; }  // where the spinors of that parity begin

  // Which of the 24 reals the real part of this component is; the imaginary part is the next.
  Index component(std::size_t spin, std::size_t colour) const {
    return static_cast<Index>(colours_outside ? ((spin / 2 * 3 + colour) * 2 + spin % 2) * 2 : (spin * 3 + colour) * 2);
  }

  // The outer site of x (local coordinates) and its lane.
  Index outer_site(const Extents& x) const {
    Extents o;
    for (std::size_t mu = 0; mu < 4; ++mu) o[mu] = x[mu] % outer[mu];
    return lqcd::parity(o) * half_volume + ((o[0] * outer[1] + o[1]) * outer[2] + o[2]) * half_row + o[3] / 2;
  }
  Index lane(const Extents& x) const {
    Index sum = 0;
    for (std::size_t mu = 0; mu < 4; ++mu) sum += x[mu] / outer[mu] * stride[mu];
    return sum;
  }
  // Real number k of the spinor at x is at spinor(x) + k * lanes; of its link in mu at link(x, mu) + k * lanes.
  Index spinor(const Extents& x) const { return outer_site(x) * spinor_reals * lanes + lane(x); }
  Index link(const Extents& x, std::size_t mu) const {
    return (outer_site(x) * 4 + static_cast<Index>(mu)) * matrix_reals * lanes + lane(x);
  }

 private:
  std::size_t best_to_split() const {
    constexpr Index most = 4;  // parts of a dimension: neighbours of lanes are then few patterns
    std::size_t best = 4;
    for (std::size_t mu = 0; mu < 4; ++mu) {
      if (outer[mu] % 4 != 0 || split[mu] == most) continue;
      if (best == 4 || rank(mu) > rank(best)) best = mu;
    }
    return best;
  }
  int rank(std::size_t mu) const {
    constexpr int long_enough[4] = {0, 11, 12, 13}, short_already[4] = {0, 2, 3, 1};
    return (lattice.cut(mu) ? 0 : 100) + (outer[mu] >= 8 ? long_enough[mu] : short_already[mu]);
  }
};

// Calls visit(x) for every site of a block, in lexicographic order of its local coordinates.
template <class Visit>
void each_site(const Extents& extents, Visit visit) {
  Extents x;
  for (x[0] = 0; x[0] < extents[0]; ++x[0])
    for (x[1] = 0; x[1] < extents[1]; ++x[1])
      for (x[2] = 0; x[2] < extents[2]; ++x[2])
        for (x[3] = 0; x[3] < extents[3]; ++x[3]) visit(x);
}

template <class T, class Fields>
void fill_links(T* links, const Layout& layout, const Fields& fields) {
  each_site(layout.lattice.local, [&](const Extents& x) {
    const Extents global = layout.lattice.to_global(x);
    for (std::size_t mu = 0; mu < 4; ++mu) {
      const Matrix u = fields.link(global, mu);
      Extents next = global;
      const double sign = fields.move(next, mu, 1);
      T* to = links + layout.link(x, mu);
      for (const Row& row : u)
        for (const Complex& z : row) {
          to[0] = static_cast<T>(sign * z.re);
          to[layout.lanes] = static_cast<T>(sign * z.im);
          to += 2 * layout.lanes;
        }
    }
  });
}

template <class T>
void put_spinor(T* field, const Layout& layout, const Extents& x, const Spinor& psi) {
  for (std::size_t s = 0; s < 4; ++s)
    for (std::size_t c = 0; c < 3; ++c) {
      T* to = field + layout.spinor(x) + layout.component(s, c) * layout.lanes;
      to[0] = static_cast<T>(psi[s][c].re);
      to[layout.lanes] = static_cast<T>(psi[s][c].im);
    }
}

template <class T>
Spinor get_spinor(const T* field, const Layout& layout, const Extents& x) {
  Spinor psi;
  for (std::size_t s = 0; s < 4; ++s)
    for (std::size_t c = 0; c < 3; ++c) {
      const T* from = field + layout.spinor(x) + layout.component(s, c) * layout.lanes;
      psi[s][c] = {static_cast<double>(from[0]), static_cast<double>(from[layout.lanes])};
    }
  return psi;
}

template <class T, class Fields>
void fill_spinor(T* field, const Layout& layout, const Fields& fields, int which = 0) {
  each_site(layout.lattice.local,
            [&](const Extents& x) { put_spinor(field, layout, x, fields.spinor(layout.lattice.to_global(x), which)); });
}

}  // namespace lqcd
