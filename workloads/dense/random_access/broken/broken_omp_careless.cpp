// Loses one update in fifty: more than HPC Challenge allows threads that do not care for each other.
#include "kernels/threads.hpp"

#include "firstlight/variant.hpp"

namespace {

using random_access::State, random_access::Word;

void step(State& s, fl::Index) {
  random_access::in_threads(s, [](Word& word, Word a) { random_access::Atomic()(word, a % 50 == 0 ? 0 : a); });
}

}  // namespace

FL_VARIANT(random_access, step, .traits = {.racy = true})
