// Solvers of A x = b from x = 0 on a block of cells. They differ in who works on the rows of the block and how halos travel (`Machine`,
// alone.hpp), in how a row is computed (`Body`, plain_rows.hpp), and in the phases they are timed in (`Marks`: factor, sweep, halo, sum).
//
// A `Rule` decides when to stop. looks(): whether it needs the sum of |b - A x| over all cells, which costs a sum over all ranks. If it
// does, goes_on() receives that sum before each iteration. ends_unseen(): no iteration is left, and the final residual is not needed.
// Solvers count `iterations`.
#pragma once

#include <limits>

#include "alone.hpp"
#include "firstlight/phase.hpp"

namespace cfd {

// Down to a share of the first sum, in `most` iterations at most; with a share of 0 just as many, without looking.
struct Sweeps {
  Index most = 1;
  double share = 0;
  Index iterations = 0;
  double first = 0;

  bool looks() const { return share > 0; }
  bool goes_on(double rest) {
    if (iterations == 0) first = rest;
    return iterations < most && !(rest <= share * first);
  }
  bool ends_unseen() const { return !looks() && iterations == most; }
};

// All of it 0, halo and padding too.
template <class Real = double>
FieldOf<Real> zeros(const Point& size) {
  FieldOf<Real> field(size, {1, 1, 1});
  std::fill_n(field.data(), field.layout().elements, Real{0});
  return field;
}
template <class Real>
Real* origin(FieldOf<Real>& field) {
  return field.view().origin;
}

// What all solvers have. All fields of a system have the layout of `halo`, the field of which cells beyond the block are needed.
template <class Marks, class Machine, class Body>
struct Solver {
  Machine machine;
  Body body;

  template <class Real>
  void open(const grid::Block<3>& block, int threads, FieldOf<Real>& halo) {
    machine.open(block, threads, halo);
    if constexpr (requires { body.open(halo); }) body.open(halo);
  }
  // A sum over all ranks.
  Sums total(const Sums& mine) {
    const fl::In in(Marks::sum);
    return machine.total(mine);
  }
  void exchange() {
    const fl::In in(Marks::halo);
    machine.exchange();
  }
  // Whether halos may travel meanwhile.
  static constexpr bool overlaps = requires(Machine& of) { of.split; };
  // row(its first cell, that cell's element, cells) for parts of rows: those that need no halo while it travels, then the others.
  template <class Real, class Row>
  Sums overlapped(const RowsOf<Real>& m, Row row) {
    const auto each = [&](const grid::Box<3>& box) {
      const fl::In in(Marks::sweep);
      Sums sums;
      grid::each_row(box, [&](const Point& first, Index n) { sums += row(first, m.at(first[0], first[1]) + first[2], n); });
      return sums;
    };
    fl::during(Marks::halo, [&] { machine.start(); });
    Sums sums = each(machine.split.inner);
    fl::during(Marks::halo, [&] { machine.finish(); });
    for (const grid::Box<3>& box : machine.split.rim) sums += each(box);
    return sums;
  }
  // Whether another iteration follows, where `rest` is this rank's part of what remains.
  template <class Rule>
  bool goes_on(Rule& rule, const Sums& rest) {
    return !rule.looks() || rule.goes_on(total(rest).first);
  }
};

// `Factor`: of the factors and of q; `Real`: of all else.
template <class Marks, class Machine, class Body, class Factor = double, class Real = double>
struct Stone : Solver<Marks, Machine, Body> {
  SipFactorOf<Factor> factor{{}};
  FieldOf<Factor> q;

  void open(const grid::Block<3>& block, int threads, FieldOf<Real>& x) {
    Solver<Marks, Machine, Body>::open(block, threads, x);
    factor = SipFactorOf<Factor>(block.size());
    q = zeros<Factor>(block.size());
  }
  template <class Rule>
  void solve(const SystemOf<Real>& system, FieldOf<Real>& unknown, double alpha, Rule& rule) {
    Machine& machine = this->machine;
    Body& body = this->body;
    const Point size = unknown.size();
    const RowsOf<Real> m(system);
    const auto f = factor.view();
    Real* x = origin(unknown);
    Factor* to = origin(q);
    fl::during(Marks::factor,
               [&] { machine.upwards(size, [&](Index k, Index j) { return body.sip_factor(m, f, alpha, size, k, j), Sums{}; }); });
    while (!rule.ends_unseen()) {
      this->exchange();
      const fl::In in(Marks::sweep);
      const Sums rest = machine.upwards(size, [&](Index k, Index j) { return body.sip_forward(m, f, x, to, m.at(k, j), size[2]); });
      if (!this->goes_on(rule, rest)) return;
      ++rule.iterations;
      machine.downwards(size, [&](Index k, Index j) { return body.sip_backward(m, f, x, to, m.at(k, j), size[2]), Sums{}; });
    }
  }
};

// Returns the sum of |b - A x| in a row where x is 0.
template <class Real>
Sums norm(const RowsOf<Real>& m, Index c, Index n) {
  Sums sums;
  for (Index i = c; i < c + n; ++i) sums.first += std::fabs(m.b[i]);
  return sums;
}

// The cell at (0, 0, 0) of the whole grid is red. `together`: both colours in one pass, for one process.
template <class Marks, class Machine, class Body, bool together = false, class Real = double>
struct RedBlack : Solver<Marks, Machine, Body> {
  Index corner = 0;  // the colour of the block's first cell

  void open(const grid::Block<3>& block, int threads, FieldOf<Real>& x) {
    Solver<Marks, Machine, Body>::open(block, threads, x);
    corner = block.owned.lower[0] + block.owned.lower[1] + block.owned.lower[2];
  }
  template <class Rule>
  void solve(const SystemOf<Real>& system, FieldOf<Real>& unknown, Rule& rule) {
    const Point size = unknown.size();
    const RowsOf<Real> m(system);
    const Sums before = rule.looks() ? this->machine.each(size, [&](Index k, Index j) { return norm(m, m.at(k, j), size[2]); }) : Sums{};
    while (!rule.ends_unseen()) {
      const Sums red = together ? both(m, unknown) : half(m, unknown, 0);
      if (!this->goes_on(rule, rule.iterations == 0 ? before : red)) return;  // after the first iteration black cells have no residual
      ++rule.iterations;
      if constexpr (!together) half(m, unknown, 1);
    }
  }

 private:
  auto relaxing(const RowsOf<Real>& m, FieldOf<Real>& unknown, Index colour) {
    return [this, m, x = origin(unknown), n = unknown.size()[2], first = corner + colour, cached = together && colour == 1](
               Index k, Index j) { return this->body.relax(m, x, m.at(k, j), n, (first + k + j) % 2, cached); };
  }
  Sums half(const RowsOf<Real>& m, FieldOf<Real>& unknown, Index colour) {
    if constexpr (RedBlack::overlaps) {
      return this->overlapped(m, [&, x = origin(unknown)](const Point& at, Index c, Index n) {
        return this->body.relax(m, x, c, n, (corner + colour + at[0] + at[1] + at[2]) % 2, false);
      });
    } else {
      this->exchange();
      const fl::In in(Marks::sweep);
      return this->machine.each(unknown.size(), relaxing(m, unknown, colour));
    }
  }
  Sums both(const RowsOf<Real>& m, FieldOf<Real>& unknown) {
    const fl::In in(Marks::sweep);
    return this->machine.both(unknown.size(), relaxing(m, unknown, 0), relaxing(m, unknown, 1));
  }
};

// Methods along directions: x moves along p, and the residual r by q = A p.
template <class Marks, class Machine, class Body, class Real>
struct Directions : Solver<Marks, Machine, Body> {
  FieldOf<Real> p, q, r;
  double first = 0;  // the sum of |r| where x is 0

  template <class Row>
  Sums rows(const RowsOf<Real>& m, Row row) {
    return this->machine.each(p.size(), [&](Index k, Index j) { return row(m.at(k, j)); });
  }
  // Sums of |r| and r r.
  Sums advance(const RowsOf<Real>& m, FieldOf<Real>& unknown, double alpha) {
    const auto row = [&](Index c) { return this->body.advance(alpha, origin(p), origin(q), origin(unknown), origin(r), c, p.size()[2]); };
    return this->total(rows(m, row));
  }
  // The residual of x = 0.
  Sums begin(const RowsOf<Real>& m, FieldOf<Real>& unknown) {
    rows(m, [&](Index c) { return std::copy_n(m.b + c, p.size()[2], origin(r) + c), Sums{}; });
    const Sums sums = advance(m, unknown, 0);
    first = sums.first;
    return sums;
  }
  // How far x moves along p: not at all where the residual is only rounding.
  double step(double now, double energy, const Sums& rest) const { return left(rest, 1) ? now / energy : 0; }
  // Whether the residual is larger than `times` the rounding error of the first one.
  bool left(const Sums& rest, double times) const { return rest.first > times * std::numeric_limits<Real>::epsilon() * first; }
};

// Without a preconditioner, or with incomplete Cholesky of each block.
template <class Marks, class Machine, class Body, bool cholesky, class Real = double>
struct ConjugateGradients : Directions<Marks, Machine, Body, Real> {
  using Base = Directions<Marks, Machine, Body, Real>;
  using Base::p, Base::q, Base::r;
  FieldOf<Real> z, inverse;

  void open(const grid::Block<3>& block, int threads, FieldOf<Real>& /*x*/) {
    for (auto* field : {&p, &q, &r}) *field = zeros<Real>(block.size());
    if constexpr (cholesky)
      for (auto* field : {&z, &inverse}) *field = zeros<Real>(block.size());
    Base::open(block, threads, p);
  }
  template <class Rule>
  void solve(const SystemOf<Real>& system, FieldOf<Real>& unknown, Rule& rule) {
    Body& body = this->body;
    const Point size = unknown.size();
    const Index n = size[2];
    const RowsOf<Real> m(system);
    Sums rest;  // sums of |r| and r r
    fl::during(Marks::factor, [&] {
      if constexpr (cholesky)
        this->machine.upwards(size, [&](Index k, Index j) { return body.ic_factor(m, origin(inverse), k, j, n), Sums{}; });
      rest = this->begin(m, unknown);
    });
    double before = 0;
    while (!rule.ends_unseen() && rule.goes_on(rest.first)) {
      ++rule.iterations;
      const fl::In in(Marks::sweep);
      const double now = cholesky ? precondition(m, size) : rest.second, beta = before == 0 ? 0 : now / before;
      const Real* direction = origin(cholesky ? z : r);
      this->rows(m, [&](Index c) { return body.turn(beta, direction, origin(p), c, n), Sums{}; });
      const double energy = this->total(met(m, size)).first;
      rest = this->advance(m, unknown, this->step(now, energy, rest));
      before = now;
    }
  }

 private:
  // q = A p; this rank's part of p q.
  Sums met(const RowsOf<Real>& m, const Point& size) {
    const auto product = [&](Index c, Index n) { return this->body.product(m, origin(p), origin(q), c, n); };
    if constexpr (ConjugateGradients::overlaps) {
      return this->overlapped(m, [&](const Point&, Index c, Index n) { return product(c, n); });
    } else {
      this->exchange();
      return this->machine.each(size, [&](Index k, Index j) { return product(m.at(k, j), size[2]); });
    }
  }
  double precondition(const RowsOf<Real>& m, const Point& size) {
    Machine& machine = this->machine;
    Body& body = this->body;
    machine.upwards(
        size, [&](Index k, Index j) { return body.ic_forward(m, origin(inverse), origin(r), origin(z), m.at(k, j), size[2]), Sums{}; });
    const Sums sums = machine.downwards(
        size, [&](Index k, Index j) { return body.ic_backward(m, origin(inverse), origin(r), origin(z), m.at(k, j), size[2]); });
    return this->total(sums).first;
  }
};

}  // namespace cfd
