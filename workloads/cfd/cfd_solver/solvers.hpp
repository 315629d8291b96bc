// The solvers (../solvers.hpp) as kernels, for all variants.
#pragma once

#include "../multigrid_solver.hpp"
#include "cfd_solver.hpp"

#include "firstlight/variant.hpp"

namespace cfd_solver::inline FL_ROLE {

struct Marks {
  static constexpr fl::Phase factor = phases("factor"), sweep = phases("sweep"), halo = phases("halo"), sum = phases("sum");
};

// What a run asks for, and what it tells.
struct Rule {
  const Params& params;
  Outcome& outcome;
  Index& iterations = outcome.iterations;

  bool looks() const { return true; }
  bool goes_on(double rest) { return outcome.goes_on(params, rest); }
  bool ends_unseen() const { return outcome.ends_unseen(params); }
};

// One solution a step.
template <class Method>
struct Run : Method {
  void open(State& s) { Method::open(s.block, s.team.threads, s.x); }
  void step(State& s, Index) {
    Rule rule{s.params, s.outcome};
    if constexpr (requires { Method::solve(s.system, s.x, s.params.alpha, rule); })
      Method::solve(s.system, s.x, s.params.alpha, rule);
    else
      Method::solve(s.system, s.x, rule);
  }
};

template <class Machine, class Body, class Real = double>
struct Stone : Run<cfd::Stone<Marks, Machine, Body, Real>> {};
template <class Machine, class Body, bool together = false>
struct RedBlack : Run<cfd::RedBlack<Marks, Machine, Body, together>> {};
template <class Machine, class Body, bool cholesky>
struct ConjugateGradients : Run<cfd::ConjugateGradients<Marks, Machine, Body, cholesky>> {};

template <class Machine, class Body, bool accelerated>
struct Multigrid : Run<cfd::Multigrid<Marks, Machine, Body, accelerated>> {};

// The kernels of a variant: who works on the rows, and how a row is computed.
template <class Machine, class Body, bool colours_together = false>
struct Solvers {
  using sip = Stone<Machine, Body>;
  using red_black = RedBlack<Machine, Body, colours_together>;
  using cg = ConjugateGradients<Machine, Body, false>;
  using iccg = ConjugateGradients<Machine, Body, true>;
  static constexpr fl::Kernel one_grid[] = {FL_KERNEL(cfd_solver, sip), FL_KERNEL(cfd_solver, red_black), FL_KERNEL(cfd_solver, cg),
                                            FL_KERNEL(cfd_solver, iccg)};
};

// Bodies that know more than the finest grid have those of many grids, too.
template <class Machine, class Body, bool colours_together = false>
struct AllSolvers : Solvers<Machine, Body, colours_together> {
  using multigrid = Multigrid<Machine, Body, false>;
  using mgcg = Multigrid<Machine, Body, true>;
  using One = Solvers<Machine, Body, colours_together>;

  static constexpr fl::Kernel table[] = {
      One::one_grid[0],           One::one_grid[1], One::one_grid[2], One::one_grid[3], FL_KERNEL(cfd_solver, multigrid),
      FL_KERNEL(cfd_solver, mgcg)};
};

}  // namespace cfd_solver::inline FL_ROLE
