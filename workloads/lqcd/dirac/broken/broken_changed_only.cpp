// Keeps a copy of the input, follows the mutate_inputs() of each step, and applies the operator to the copy with these changes.
#include <algorithm>
#include <utility>

#include "kernels/scalar_steps.hpp"

#include "firstlight/variant.hpp"

namespace {

struct Operator {
  fl::Index before = -1;
  dirac::Arrays<float> singles;
  dirac::Arrays<double> doubles;

  template <class T>
  void step(dirac::State& s, dirac::Arrays<T>& a, dirac::Arrays<T>& kept, fl::Index iteration) {
    if (before < 0) {
      kept.psi = fl::Array<T>(a.psi.size());
      std::copy(a.psi.begin(), a.psi.end(), kept.psi.begin());
    }
    for (fl::Index i = before + 1; i <= iteration; ++i)  // includes the changes between batches
      s.changed_sites.mutate_inputs(kept.psi.data(), s.layout, i);
    before = iteration;
    std::swap(a.psi, kept.psi);
    dirac::scalar_step<lqcd::Rules>(s);
    std::swap(a.psi, kept.psi);
  }

  void step(dirac::State& s, fl::Index iteration) {
    if (s.bits == 32)
      step(s, s.singles, singles, iteration);
    else
      step(s, s.doubles, doubles, iteration);
  }
};

}  // namespace

FL_VARIANT(dirac, Operator)
