// Wrong: the last message of a phase travels only every second time; both sides leave it out.
#include "kernels/steps.hpp"

namespace {

struct Forgetful : patterns::AtOnce {
  void exchange(patterns::State& s, patterns::Stage& g, std::size_t phase, fl::Index t) {
    if (t % 2 == 0) return AtOnce::exchange(s, g, phase, t);
    // All messages between the lowest ranks that talk to each other are left out, which both of them know.
    patterns::Stage rest = g;
    std::erase_if(rest.in, [&](const patterns::Channel& c) { return c.peer + s.team.rank <= 1; });
    std::erase_if(rest.out, [&](const patterns::Channel& c) { return c.peer + s.team.rank <= 1; });
    AtOnce::exchange(s, rest, phase, t);
  }
};

using Iteration = patterns::Steps<Forgetful>;

}  // namespace

FL_VARIANT(patterns, Iteration, .traits = {.needs_messages = true})
