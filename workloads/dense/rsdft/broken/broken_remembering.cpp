// Keeps the states of the first step, and only derives the trap that they would be in from the lowest energy.
#include "firstlight/variant.hpp"
#include "kernels/run.hpp"

namespace {

struct Broken : rsdft::Run<rsdft::PlainStencil, rsdft::PlainProducts> {
  std::vector<double> states, energies;
  double trap = 0;

  void step(rsdft::State& s, fl::Index iteration) {
    if (states.empty()) {
      Run::step(s, iteration);
      states.assign(s.states.begin(), s.states.end());
      energies.assign(s.energies.begin(), s.energies.end());
      trap = s.trap;
      return;
    }
    std::copy(states.begin(), states.end(), s.states.begin());
    for (fl::Index j = 0; j < s.p.states; ++j) s.energies[j] = energies[static_cast<std::size_t>(j)] * std::sqrt(s.trap / trap);
  }
};

}  // namespace

FL_VARIANT(rsdft, Broken)
