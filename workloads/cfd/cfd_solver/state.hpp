// Parameters and state: what inputs, checks and variants share.
#pragma once

#include <functional>
#include <vector>

#include "../extents.hpp"
#include "firstlight/input_mutator.hpp"

namespace cfd_solver {

namespace grid = fl::grid;
using cfd::Field, cfd::Point, cfd::Problem, cfd::System;
using fl::Index;

// In the order of their names below.
enum class Kernel { sip, red_black, cg, iccg, multigrid, mgcg };
inline constexpr const char* kernels = "sip|red_black|cg|iccg|multigrid|mgcg";

struct Params : cfd::Extents {
  Kernel kernel = Kernel::sip;
  Problem problem = Problem::poisson;
  double slender = 1, alpha = 0.92;
  Index digits = 6, sweeps = 0, bits = 64;

  Params() : Extents{.i = 13, .j = 9, .k = 7} {}
  void declare(fl::Fields& fields) {
    fields.choice("kernel", kernel, kernels,
                  "the solver: Stone's method, red-black Gauss-Seidel, conjugate gradients without and with incomplete "
                  "Cholesky, multigrid by itself and with conjugate gradients");
    declare_cells(fields);
    fields.choice("problem", problem, "poisson|diffusion|transport",
                  "the coefficients: 1; symmetric, different at each face; unsymmetric, with flow through each face");
    fields.real("slender", slender, "1", 0.01, 100, "ratio of cell lengths, j to k and i to j");
    fields.real("alpha", alpha, "1", 0, 0.999, "compensated share of the neglected terms in Stone's method");
    fields.integer("digits", digits, "digits", 1, 12, "stop when the L1 norm of the residual has fallen by this number of powers of ten");
    fields.integer("sweeps", sweeps, "iterations", 0, 1 << 20, "iterations of a run; 0: until the tolerance is reached");
    fields.integer("bits", bits, "bit", 32, 64, "width of the numbers: 32 or 64");
    declare_processes(fields);
  }
  cfd::Equation equation() const { return {problem, slender}; }
};

inline constexpr Index most_iterations = 20000;

struct Outcome {
  Index iterations = 0;
  std::vector<double> history;  // sum of |b - A x| over all cells: before each iteration, and after the last where that was looked at

  // To be called with each of them; whether to go on.
  bool goes_on(const Params& p, double now) {
    history.push_back(now);
    if (p.sweeps > 0) return iterations < p.sweeps;
    constexpr double diverged = 1e6;
    return now > history.front() * std::pow(10.0, -static_cast<double>(p.digits)) && now < diverged * history.front() &&
           iterations < most_iterations;
  }
  // After the requested number of iterations there is nothing to look at.
  bool ends_unseen(const Params& p) const { return p.sweeps > 0 && iterations == p.sweeps; }
};

// What the workload must know of a variant.
struct Traits {
  bool colours_together = false;    // red-black: both in one pass through memory
  bool ordered = false;             // red-black: the cells of one colour side by side, put so at the beginning of a solution
  bool indirect = false;            // neighbours by their numbers in memory, of 32 bits
  bool mixed = false;               // Stone's factors and corrections in 32 bits
  bool narrow = false;              // all in 32 bits, too, where a run requests it
  double tolerance = 1e-9;          // of x, of its largest value
  double history_tolerance = 1e-8;  // of the residuals on the way, each of itself
  Index iterations_apart = 0;       // at most, from a plain solver's
};

struct State {
  Params params;
  Traits traits;
  fl::Team team;
  grid::Block<3> block;
  System system;
  Field x;  // 0 at first; its halo beyond walls stays 0
  Outcome outcome;
  std::function<void()> upload;    // the system and x, where a variant keeps them on a device or in other numbers
  std::function<void()> download;  // x
  fl::InputMutator changing;       // of the diagonal
  Index upcoming = 0;              // the iteration of the next step
  std::vector<double> unchanged;   // the history of a run of unchanged inputs, once a case
};

template <class Visit>
void each_field(State& s, Visit visit) {
  for (Field& a : s.system.a) visit(a);
  visit(s.system.b);
  visit(s.x);
}

}  // namespace cfd_solver
