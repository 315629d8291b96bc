// Wrong on purpose: the source of the even sites leaves out what the odd ones contribute.
#include "kernels/solver.hpp"

namespace {

using Solver = dirac_solver::Solver<lqcd::ScalarHop>;

struct HalfSource : Solver {
  using Solver::Solver;

  void step(dirac_solver::State& s, fl::Index) {
    const fl::Index odd = s.layout.parity_offset(1);
    fl::Array<double> whole = std::move(s.b), even(whole.size());
    std::copy_n(whole.data(), odd, even.data());
    std::fill_n(even.data() + odd, odd, 0.0);
    s.b = std::move(even);
    solve(s, dirac_solver::goal(s));
    s.b = std::move(whole);
  }
};

}  // namespace

FL_VARIANT(dirac_solver, HalfSource)
