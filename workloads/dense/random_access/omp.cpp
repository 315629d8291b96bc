#include "kernels/threads.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(random_access::State& s, fl::Index) { random_access::in_threads(s, random_access::Careless()); }

}  // namespace

FL_VARIANT(random_access, step, .first_touch = random_access::touch_first, .traits = {.racy = true})
