// Returns the matrix of the step before.
#include "kernels/plain.hpp"

namespace {

struct Stale {
  hartree_fock::Run<hartree_fock::Plain> run;
  std::vector<double> before;

  void step(hartree_fock::State& s, fl::Index iteration) {
    run.step(s, iteration);
    std::vector<double> now(s.g.begin(), s.g.end());
    if (!before.empty()) std::copy(before.begin(), before.end(), s.g.begin());
    before = std::move(now);
  }
};

using Step = Stale;

}  // namespace

FL_VARIANT(hartree_fock, Step)
