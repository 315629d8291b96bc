// Links computed once: for solvers' checks, which apply the reference operator to many fields.
#pragma once

#include <vector>

#include "reference.hpp"

namespace lqcd {

// Links from a table; fermions get a sign around time where they are antiperiodic.
struct TabledFields {
  Extents global{};
  bool antiperiodic = false;
  std::vector<Matrix> table;

  const Matrix& link(const Extents& x, std::size_t mu) const { return table[static_cast<std::size_t>(number(x, global)) * 4 + mu]; }
  Spinor spinor(const Extents& x, int which = 0) const { return lqcd::spinor(number(x, global), which); }
  double move(Extents& x, std::size_t mu, Index step) const { return GivenFields{global, antiperiodic}.move(x, mu, step); }
};

template <class Link>
TabledFields tabled(const Extents& global, bool antiperiodic, Link link) {
  TabledFields fields{global, antiperiodic, {}};
  fields.table.reserve(static_cast<std::size_t>(product(global)) * 4);
  for (Index site = 0; site < product(global); ++site)
    for (std::size_t mu = 0; mu < 4; ++mu) fields.table.push_back(link(place(site, global), mu));
  return fields;
}

}  // namespace lqcd
