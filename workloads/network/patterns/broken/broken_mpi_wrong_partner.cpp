// Wrong: what comes from one partner is taken for what came from another, or for another message of the same one.
#include "kernels/steps.hpp"

namespace {

struct Confused : patterns::AtOnce {
  void exchange(patterns::State& s, patterns::Stage& g, std::size_t phase, fl::Index t) {
    AtOnce::exchange(s, g, phase, t);
    for (std::size_t k = 1; k < g.in.size(); ++k)
      if (g.in[k].n == g.in[0].n) std::swap_ranges(g.in[0].words, g.in[0].words + g.in[0].n, g.in[k].words);
    if (g.in.size() == 1 && g.out.size() == 1 && g.in[0].n == g.out[0].n)  // the one message: as if it were its own
      std::swap_ranges(g.in[0].words, g.in[0].words + g.in[0].n, g.out[0].words);
  }
};

using Iteration = patterns::Steps<Confused>;

}  // namespace

FL_VARIANT(patterns, Iteration, .traits = {.needs_messages = true})
