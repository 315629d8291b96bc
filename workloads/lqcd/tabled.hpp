// Links computed once: for solvers' checks, which apply the reference operator to many fields.
#pragma once

#include <vector>

#include "changed.hpp"
#include "layout.hpp"
#include "reference.hpp"

namespace lqcd {

// Links from a table; fermions get a sign around time where they are antiperiodic.
struct TabledFields {
  Extents global{};
  bool antiperiodic = false;
  Extents first{}, extents{};  // of the box whose links are known; it may reach around the torus
  std::vector<Matrix> table;
  ChangedSites changed{};  // of spinor field 0
  fl::ChangeLog ages{};    // the part that a check treats as changed

  const Matrix& link(const Extents& x, std::size_t mu) const {
    Extents here;
    for (std::size_t nu = 0; nu < 4; ++nu) here[nu] = (x[nu] - first[nu] + global[nu]) % global[nu];
    return table[static_cast<std::size_t>(number(here, extents)) * 4 + mu];
  }
  Spinor spinor(const Extents& x, int which = 0) const {
    const Spinor given = lqcd::spinor(number(x, global), which);
    const double divisor = which == 0 ? changed.divisor(ages, x) : 1;
    return divisor == 1 ? given : combine(1 / divisor, given, 0, given);
  }
  double move(Extents& x, std::size_t mu, Index step) const { return GivenFields{global, antiperiodic}.move(x, mu, step); }
};

// The links that the operator needs on a block: its own, and those that lead into it from the sites before it.
template <class Link>
TabledFields tabled(const Lattice& block, bool antiperiodic, Link link) {
  TabledFields fields{block.global, antiperiodic, block.origin, block.local, {}};
  for (std::size_t mu = 0; mu < 4; ++mu) {
    if (!block.cut(mu)) continue;
    fields.first[mu] = (block.origin[mu] - 1 + block.global[mu]) % block.global[mu];
    fields.extents[mu] += 1;
  }
  fields.table.reserve(static_cast<std::size_t>(product(fields.extents)) * 4);
  each_site(fields.extents, [&](Extents x) {
    for (std::size_t mu = 0; mu < 4; ++mu) x[mu] = (fields.first[mu] + x[mu]) % block.global[mu];
    for (std::size_t mu = 0; mu < 4; ++mu) fields.table.push_back(link(x, mu));
  });
  return fields;
}

}  // namespace lqcd
