// What is meant for the first partner goes to the last one, and the other way round.
#include "kernels/run.hpp"

namespace {

struct Run : messages::Run<> {
  void step(messages::State& s, fl::Index iteration) {
    const auto swap = [&] { std::swap(s.rounds.front().out.front().begin, s.rounds.back().out.back().begin); };
    swap();
    messages::Run<>::step(s, iteration);
    swap();
  }
};

}  // namespace

FL_VARIANT(messages, Run)
