// The solvers, for all variants. They differ in who works on the rows of a block and how halos travel (`Machine`, ../alone.hpp), and in how
// a row is computed (`Body`, ../plain_rows.hpp).
#pragma once

#include "../alone.hpp"
#include "cfd_solver.hpp"

#include "firstlight/variant.hpp"

namespace cfd_solver::inline FL_ROLE {

using cfd::Rows, cfd::Sums;

// All of it 0, halo and padding too.
template <class Real = double>
cfd::FieldOf<Real> zeros(const Point& size) {
  cfd::FieldOf<Real> field(size, {1, 1, 1});
  std::fill_n(field.data(), field.layout().elements, Real{0});
  return field;
}
template <class Real>
Real* origin(cfd::FieldOf<Real>& field) {
  return field.view().origin;
}

// A sum over all ranks.
template <class Machine>
Sums total(Machine& machine, const Sums& mine) {
  const fl::In in(phases("sum"));
  return machine.total(mine);
}
template <class Machine>
void exchange(Machine& machine) {
  const fl::In in(phases("halo"));
  machine.exchange();
}

// For a body that needs tables of its own.
template <class Body>
void prepare(Body& body, State& s) {
  if constexpr (requires { body.open(s.x); }) body.open(s.x);
}

// `Real`: of the factors and of q.
template <class Machine, class Body, class Real = double>
struct Stone {
  Machine machine;
  Body body;
  cfd::SipFactorOf<Real> factor{{}};
  cfd::FieldOf<Real> q;

  void open(State& s) {
    machine.open(s.block, s.team.threads, s.x);
    prepare(body, s);
    factor = cfd::SipFactorOf<Real>(s.block.size());
    q = zeros<Real>(s.block.size());
  }
  void step(State& s, Index) {
    const Point size = s.block.size();
    const Rows m(s.system);
    const auto f = factor.view();
    double* x = origin(s.x);
    Real* to = origin(q);
    fl::during(phases("factor"),
               [&] { machine.upwards(size, [&](Index k, Index j) { return body.sip_factor(m, f, s.params.alpha, size, k, j), Sums{}; }); });
    while (!s.outcome.ends_unseen(s.params)) {
      exchange(machine);
      const fl::In in(phases("sweep"));
      const Sums rest = machine.upwards(size, [&](Index k, Index j) { return body.sip_forward(m, f, x, to, m.at(k, j), size[2]); });
      if (!s.outcome.goes_on(s.params, total(machine, rest).first)) return;
      ++s.outcome.iterations;
      machine.downwards(size, [&](Index k, Index j) { return body.sip_backward(m, f, x, to, m.at(k, j), size[2]), Sums{}; });
    }
  }
};

// The cell at (0, 0, 0) of the whole grid is red. `together`: both colours in one pass, for one process.
template <class Machine, class Body, bool together = false>
struct RedBlack {
  Machine machine;
  Body body;

  void open(State& s) {
    machine.open(s.block, s.team.threads, s.x);
    prepare(body, s);
  }
  void step(State& s, Index) {
    const double first = total(machine, norm(s)).first;
    while (!s.outcome.ends_unseen(s.params)) {
      const Sums red = together ? both(s) : half(s, 0);  // after the first iteration black cells have no residual
      if (!s.outcome.goes_on(s.params, s.outcome.iterations == 0 ? first : total(machine, red).first)) return;
      ++s.outcome.iterations;
      if constexpr (!together) half(s, 1);
    }
  }

 private:
  // Of b, for x is 0.
  Sums norm(State& s) {
    const Rows m(s.system);
    return machine.each(s.block.size(), [&](Index k, Index j) {
      Sums sums;
      for (Index i = 0; i < s.block.size()[2]; ++i) sums.first += std::fabs(m.b[m.at(k, j) + i]);
      return sums;
    });
  }
  auto relaxing(State& s, Index colour) {
    const Point& lower = s.block.owned.lower;
    return [this, m = Rows(s.system), x = origin(s.x), n = s.block.size()[2], corner = lower[0] + lower[1] + lower[2] + colour,
            cached = together && colour == 1](Index k, Index j) { return body.relax(m, x, m.at(k, j), n, (corner + k + j) % 2, cached); };
  }
  Sums half(State& s, Index colour) {
    exchange(machine);
    const fl::In in(phases("sweep"));
    return machine.each(s.block.size(), relaxing(s, colour));
  }
  Sums both(State& s) {
    const fl::In in(phases("sweep"));
    return machine.both(s.block.size(), relaxing(s, 0), relaxing(s, 1));
  }
};

// Without a preconditioner, or with incomplete Cholesky of each block.
template <class Machine, class Body, bool cholesky>
struct ConjugateGradients {
  Machine machine;
  Body body;
  Field p, q, r, z, inverse;

  void open(State& s) {
    for (Field* field : {&p, &q, &r}) *field = zeros(s.block.size());
    if constexpr (cholesky)
      for (Field* field : {&z, &inverse}) *field = zeros(s.block.size());
    machine.open(s.block, s.team.threads, p);
    prepare(body, s);
  }
  void step(State& s, Index) {
    const Point size = s.block.size();
    const Index n = size[2];
    const Rows m(s.system);
    const auto rows = [&](auto row) { return machine.each(size, [&](Index k, Index j) { return row(m.at(k, j)); }); };
    Sums rest;  // sums of |r| and r r
    fl::during(phases("factor"), [&] {
      if constexpr (cholesky) machine.upwards(size, [&](Index k, Index j) { return body.ic_factor(m, origin(inverse), k, j, n), Sums{}; });
      rest = total(machine, rows([&](Index c) {
                     std::copy_n(m.b + c, n, origin(r) + c);
                     return body.advance(0, origin(p), origin(q), origin(s.x), origin(r), c, n);
                   }));
    });
    double before = 0;
    while (!s.outcome.ends_unseen(s.params) && s.outcome.goes_on(s.params, rest.first)) {
      ++s.outcome.iterations;
      const fl::In in(phases("sweep"));
      const double now = cholesky ? precondition(m, size) : rest.second, beta = before == 0 ? 0 : now / before;
      const double* direction = origin(cholesky ? z : r);
      rows([&](Index c) { return body.turn(beta, direction, origin(p), c, n), Sums{}; });
      exchange(machine);
      const double energy = total(machine, rows([&](Index c) { return body.product(m, origin(p), origin(q), c, n); })).first;
      rest = total(machine, rows([&](Index c) { return body.advance(now / energy, origin(p), origin(q), origin(s.x), origin(r), c, n); }));
      before = now;
    }
  }

 private:
  double precondition(const Rows& m, const Point& size) {
    machine.upwards(
        size, [&](Index k, Index j) { return body.ic_forward(m, origin(inverse), origin(r), origin(z), m.at(k, j), size[2]), Sums{}; });
    return total(machine, machine.downwards(size,
                                            [&](Index k, Index j) {
                                              return body.ic_backward(m, origin(inverse), origin(r), origin(z), m.at(k, j), size[2]);
                                            }))
        .first;
  }
};

// The kernels of a variant: who works on the rows, and how a row is computed.
template <class Machine, class Body, bool colours_together = false>
struct Solvers {
  using sip = Stone<Machine, Body>;
  using red_black = RedBlack<Machine, Body, colours_together>;
  using cg = ConjugateGradients<Machine, Body, false>;
  using iccg = ConjugateGradients<Machine, Body, true>;

  static constexpr fl::Kernel table[] = {FL_KERNEL(cfd_solver, sip), FL_KERNEL(cfd_solver, red_black), FL_KERNEL(cfd_solver, cg),
                                         FL_KERNEL(cfd_solver, iccg)};
};

}  // namespace cfd_solver::inline FL_ROLE
