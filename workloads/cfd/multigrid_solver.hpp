// V-cycles of multigrid by themselves, and as the preconditioner of conjugate gradients.
#pragma once

#include "multigrid.hpp"
#include "solvers.hpp"

namespace cfd {

// `accelerated`: by conjugate gradients, which allow for a preconditioner that is not symmetric (Y. Notay, SIAM J. Sci. Comput. 22 (2000)
// 1444): interpolation is not the transpose of the summing of residuals.
template <class Marks, class Machine, class Body, bool accelerated, class Real = double>
struct Multigrid : Directions<Marks, Machine, Body, Real> {
  using Base = Directions<Marks, Machine, Body, Real>;
  using Base::p, Base::q, Base::r;
  FieldOf<Real> z;
  VCycle<Marks, Machine, Body, Real> cycle;

  void open(const grid::Block<3>& block, int threads, SystemOf<Real>& system, const Shape& shape) {
    for (auto* field : {&p, &q, &r, &z}) *field = zeros<Real>(block.size());
    cycle.open(block, shape, system, z);
    Base::open(block, threads, p);
  }
  template <class Rule>
  void solve(const SystemOf<Real>& system, FieldOf<Real>& unknown, Rule& rule) {
    Body& body = this->body;
    const Index n = p.size()[2];
    const RowsOf<Real> m(system);
    Sums rest;  // sums of |r| and r r
    fl::during(Marks::factor, [&] {
      cycle.factor(this->machine, body);
      rest = this->begin(m, unknown);
    });
    double alpha = 1, before = 0;
    while (!rule.ends_unseen() && rule.goes_on(rest.first)) {
      ++rule.iterations;
      const fl::In in(Marks::sweep);
      cycle(this->machine, body, origin(r));  // A z = r
      double now = 0, beta = 0;
      if constexpr (accelerated) {
        const Sums sums = this->total(this->rows(m, [&](Index c) { return body.products(origin(z), origin(r), origin(q), c, n); }));
        now = sums.first;
        // Where the residual is mostly rounding, z may cancel the previous direction, and x would move far along the remainder.
        beta = before != 0 && this->left(rest, 32) ? -alpha * sums.second / before : 0;
      }
      this->rows(m, [&](Index c) { return body.turn(beta, origin(z), origin(p), c, n), Sums{}; });
      this->exchange();
      const Sums energy = this->rows(m, [&](Index c) { return body.product(m, origin(p), origin(q), c, n); });
      if constexpr (accelerated) alpha = this->step(now, this->total(energy).first, rest);
      rest = this->advance(m, unknown, alpha);
      before = now;
    }
  }
};

}  // namespace cfd
