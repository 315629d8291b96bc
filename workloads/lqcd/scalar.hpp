// The operator one site after the other, in plain numbers, on a layout with one lane. Rules defines the signs; wrong ones
// prove that checks bite.
#pragma once

#include "half.hpp"
#include "layout.hpp"
#include "reference.hpp"
#include "walk.hpp"

namespace lqcd {

struct Rules {
  static constexpr int forward = -1, backward = 1;  // signs of g_mu
  static constexpr bool adjoint = true;             // of the backward link
};

// out(x) = a centre(x) + b (the sum of the eight neighbours' terms of psi), for all sites of a parity of a whole lattice. psi, centre
// and out begin at their parity; centre may be psi of any field, or null where a = 0.
template <class Rules, class T>
void scalar_hop(const Layout& layout, int target, const T* links, const T* psi, const T* centre, T* out, T a, T b) {
  const Index target_first = target * layout.half_volume, other_first = (1 - target) * layout.half_volume;
  each_target(layout, target, [&](const Neighbours& site) {
    T sum[24] = {};
    fl::simd::unroll<4>([&](auto mu) {
      T h[half_reals];
      project<mu, Rules::forward>(h, psi + (site.up[mu] - other_first) * 24);
      add_product<mu, Rules::forward, false>(sum, links + (site.here * 4 + mu) * 18, h);
      project<mu, Rules::backward>(h, psi + (site.down[mu] - other_first) * 24);
      add_product<mu, Rules::backward, Rules::adjoint>(sum, links + (site.down[mu] * 4 + mu) * 18, h);
    });
    T* to = out + (site.here - target_first) * 24;
    if (centre == nullptr) {
      for (int k = 0; k < 24; ++k) to[k] = b * sum[k];
    } else {
      const T* from = centre + (site.here - target_first) * 24;
      for (int k = 0; k < 24; ++k) to[k] = a * from[k] + b * sum[k];
    }
  });
}

}  // namespace lqcd
