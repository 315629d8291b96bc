// Red-black relaxation in red-black order, for one process: the system is put into that order, and x back into the grid's.
#pragma once

#include "red_black_order.hpp"
#include "solvers.hpp"

namespace cfd {

// The cell at (0, 0, 0) is red; both colours go in one pass.
template <class Marks, class Machine, class Real = double>
struct OrderedRedBlack : Solver<Marks, Machine, PlainRows> {
  InRedBlackOrder<Real> ordered;

  void open(const grid::Block<3>& block, int threads, FieldOf<Real>& x) {
    Solver<Marks, Machine, PlainRows>::open(block, threads, x);
    ordered = InRedBlackOrder<Real>(block.size());
    const auto clear = [&](Index k, Index j) {
      for (auto& colour : ordered.colours) colour.clear(k, j);
    };
    this->machine.slabs(block.size(), clear);
    const Point& size = block.size();
    grid::each_row(grid::Box<3>{{-1, -1, 0}, {size[0] + 1, size[1] + 1, 1}}, [&](const Point& at, Index) {
      if (at[0] < 0 || at[0] == size[0] || at[1] < 0 || at[1] == size[1]) clear(at[0], at[1]);
    });
  }
  template <class Rule>
  void solve(const SystemOf<Real>& system, FieldOf<Real>& unknown, Rule& rule) {
    auto& machine = this->machine;
    const Point size = unknown.size();
    const RowsOf<Real> m(system);
    Real* x = origin(unknown);
    fl::during(Marks::factor, [&] { machine.slabs(size, [&](Index k, Index j) { ordered.take(m, x, k, j); }); });
    const Sums before = rule.looks() ? machine.each(size, [&](Index k, Index j) { return norm(m, m.at(k, j), size[2]); }) : Sums{};
    const HalfSweep<Real> red(ordered, 0), black(ordered, 1);
    while (!rule.ends_unseen()) {
      const fl::In in(Marks::sweep);
      const Sums rest = machine.both(size, red, black, size[1] * size[2]);  // whole planes: only x is read again
      if (!this->goes_on(rule, rule.iterations == 0 ? before : rest)) break;
      ++rule.iterations;
    }
    fl::during(Marks::factor, [&] { machine.slabs(size, [&](Index k, Index j) { ordered.give(x + m.at(k, j), k, j); }); });
  }
};

}  // namespace cfd
