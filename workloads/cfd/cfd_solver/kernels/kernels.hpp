// The solvers (../solvers.hpp) as kernels, for all variants.
#pragma once

#include <variant>

#include "../multigrid_solver.hpp"
#include "../narrow.hpp"
#include "cfd_solver.hpp"

#include "firstlight/variant.hpp"

namespace cfd_solver {

struct Marks {
  static constexpr fl::Phase factor = phases("factor"), sweep = phases("sweep"), halo = phases("halo"), sum = phases("sum");
};

// The input and the results of a run.
struct Rule {
  const Params& params;
  Outcome& outcome;
  Index& iterations = outcome.iterations;

  bool looks() const { return true; }
  bool goes_on(double rest) { return outcome.goes_on(params, rest); }
  bool ends_unseen() const { return outcome.ends_unseen(params); }
};

// The system and x in other numbers than those of the inputs, which come and go outside of a step's time.
template <class Real>
struct Copy {
  cfd::SystemOf<Real> system;
  cfd::FieldOf<Real> x;

  void open(State& s) {
    const auto field = [&] { return cfd::FieldOf<Real>(s.block.size(), {1, 1, 1}); };
    for (auto& a : system.a) a = field();
    system.b = field();
    x = field();
    s.upload = [this, &s] {
      for (std::size_t place = cfd::P; place <= cfd::T; ++place) cfd::convert(s.system.a[place], system.a[place]);
      cfd::convert(s.system.b, system.b);
      cfd::convert(s.x, x);
    };
    s.download = [this, &s] { cfd::convert(x, s.x); };
  }
  // Who works on a row touches it first.
  void mutate_inputs(auto& machine, bool planes) {
    const auto clear = [&](Index k, Index j) {
      for (auto& a : system.a) std::fill_n(&a[{k, j, 0}], a.size()[2], Real{0});
      for (auto* each : {&system.b, &x}) std::fill_n(&(*each)[{k, j, 0}], each->size()[2], Real{0});
    };
    if (planes)
      machine.slabs(x.size(), clear);
    else
      machine.each(x.size(), [&](Index k, Index j) { return clear(k, j), cfd::Sums{}; });
  }
};

// One solution a step, of the inputs themselves or of a copy.
template <class Method, class Real = double>
struct Run : Method {
  static constexpr bool copies = !std::is_same_v<Real, double>;
  std::conditional_t<copies, Copy<Real>, std::monostate> copy;

  void open(State& s) {
    if constexpr (copies) {
      copy.open(s);
      open(s, copy.system, copy.x);
      copy.mutate_inputs(this->machine, s.params.kernel == Kernel::red_black);
    } else {
      open(s, s.system, s.x);
    }
  }
  void step(State& s, Index) {
    if constexpr (copies)
      solve(s, copy.system, copy.x);
    else
      solve(s, s.system, s.x);
  }
  void close(State& s) { s.upload = s.download = {}; }

 private:
  void open(State& s, auto& system, auto& x) {
    if constexpr (requires { Method::open(s.block, s.team.threads, x); })
      Method::open(s.block, s.team.threads, x);
    else
      Method::open(s.block, s.team.threads, system, cfd::Shape{.coupling = s.params.equation().coupling()});
  }
  void solve(State& s, const auto& system, auto& x) {
    Rule rule{s.params, s.outcome};
    if constexpr (requires { Method::solve(system, x, s.params.alpha, rule); })
      Method::solve(system, x, s.params.alpha, rule);
    else
      Method::solve(system, x, rule);
  }
};

template <class Wide, class Narrow, bool narrow>
using Of = std::conditional_t<narrow, cfd::Either<Wide, Narrow>, Wide>;

// `Factor`: of Stone's factors and corrections.
template <class Machine, class Body, class Factor = double, class Real = double>
struct Stone : Run<cfd::Stone<Marks, Machine, Body, Factor, Real>, Real> {};
template <class Machine, class Body, bool together = false, class Real = double>
struct RedBlack : Run<cfd::RedBlack<Marks, Machine, Body, together, Real>, Real> {};
template <class Machine, class Body, bool cholesky, class Real = double>
struct ConjugateGradients : Run<cfd::ConjugateGradients<Marks, Machine, Body, cholesky, Real>, Real> {};
template <class Machine, class Body, bool accelerated, class Real = double>
struct Multigrid : Run<cfd::Multigrid<Marks, Machine, Body, accelerated, Real>, Real> {};

// The kernels of a variant: who works on the rows, and how a row is computed. `narrow`: in 32 bits, too.
template <class Machine, class Body, bool colours_together = false, bool narrow = false>
struct Solvers {
  using sip = Of<Stone<Machine, Body>, Stone<Machine, Body, float, float>, narrow>;
  using red_black = Of<RedBlack<Machine, Body, colours_together>, RedBlack<Machine, Body, colours_together, float>, narrow>;
  using cg = Of<ConjugateGradients<Machine, Body, false>, ConjugateGradients<Machine, Body, false, float>, narrow>;
  using iccg = Of<ConjugateGradients<Machine, Body, true>, ConjugateGradients<Machine, Body, true, float>, narrow>;
  static constexpr fl::Kernel one_grid[] = {FL_KERNEL(cfd_solver, sip), FL_KERNEL(cfd_solver, red_black), FL_KERNEL(cfd_solver, cg),
                                            FL_KERNEL(cfd_solver, iccg)};
};

// Bodies that know more than the finest grid have those of many grids, too.
template <class Machine, class Body, bool colours_together = false, bool narrow = false>
struct AllSolvers : Solvers<Machine, Body, colours_together, narrow> {
  using multigrid = Of<Multigrid<Machine, Body, false>, Multigrid<Machine, Body, false, float>, narrow>;
  using mgcg = Of<Multigrid<Machine, Body, true>, Multigrid<Machine, Body, true, float>, narrow>;
  using One = Solvers<Machine, Body, colours_together, narrow>;

  static constexpr fl::Kernel table[] = {
      One::one_grid[0],           One::one_grid[1], One::one_grid[2], One::one_grid[3], FL_KERNEL(cfd_solver, multigrid),
      FL_KERNEL(cfd_solver, mgcg)};
};

}  // namespace cfd_solver
