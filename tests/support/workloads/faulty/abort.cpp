// Aborts in the middle of the timed loop.
#include <cstdlib>

#include "faulty.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(faulty::State& s, fl::Index iteration) {
  faulty::sum(s);
  if (iteration == 2) std::abort();
}

}  // namespace

FL_VARIANT(faulty, step)
