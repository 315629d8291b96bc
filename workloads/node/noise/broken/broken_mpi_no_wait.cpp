// Guesses the sum instead of waiting for it.
#include "noise.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(noise::State& s, fl::Index) {
  noise::do_summed_quanta(s, [](const std::uint64_t& mine, std::uint64_t& sum) { sum = 2 * mine; });
}

}  // namespace

FL_VARIANT(noise, step, .traits = {.waiting = true})
