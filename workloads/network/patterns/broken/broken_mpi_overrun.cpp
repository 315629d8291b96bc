// Wrong: writes one word behind each message that it receives.
#include "kernels/steps.hpp"

namespace {

struct Careless : patterns::AtOnce {
  void exchange(patterns::State& s, patterns::Stage& g, std::size_t phase, fl::Index t) {
    AtOnce::exchange(s, g, phase, t);
    for (const patterns::Channel& c : g.in) c.words[c.n] = 0;
  }
};

using Iteration = patterns::Steps<Careless>;

}  // namespace

FL_VARIANT(patterns, Iteration, .traits = {.needs_messages = true})
