// Sites one after the other with their neighbours, on a layout with one lane: no division is left in the innermost loop.
#pragma once

#include "layout.hpp"

namespace lqcd {

struct Neighbours {
  Index here, up[4], down[4];  // sites of the layout
};

// visit(neighbours) for all sites of parity `target` of a whole lattice.
template <class Visit>
inline void each_target(const Layout& layout, int target, Visit visit) {
  const Extents& n = layout.outer;
  const Index h = layout.half_row, first_here = target * layout.half_volume, first_there = (1 - target) * layout.half_volume;
  const auto around = [](Index x, Index step, Index extent) {
    const Index next = x + step;
    return next < 0 ? next + extent : next >= extent ? next - extent : next;
  };
  const auto row = [&](Index t, Index x, Index y) { return ((t * n[1] + x) * n[2] + y) * h; };
  for (Index t = 0; t < n[0]; ++t)
    for (Index x = 0; x < n[1]; ++x)
      for (Index y = 0; y < n[2]; ++y) {
        const Index mine = row(t, x, y), shift = (t + x + y + target) & 1;  // z = 2 k + shift
        const Index up[3] = {row(around(t, 1, n[0]), x, y), row(t, around(x, 1, n[1]), y), row(t, x, around(y, 1, n[2]))};
        const Index down[3] = {row(around(t, -1, n[0]), x, y), row(t, around(x, -1, n[1]), y), row(t, x, around(y, -1, n[2]))};
        for (Index k = 0; k < h; ++k) {
          Neighbours site;
          site.here = first_here + mine + k;
          for (int mu = 0; mu < 3; ++mu) {
            site.up[mu] = first_there + up[mu] + k;
            site.down[mu] = first_there + down[mu] + k;
          }
          site.up[3] = first_there + mine + (shift == 0 ? k : around(k, 1, h));
          site.down[3] = first_there + mine + (shift == 1 ? k : around(k, -1, h));
          visit(site);
        }
      }
}

}  // namespace lqcd
