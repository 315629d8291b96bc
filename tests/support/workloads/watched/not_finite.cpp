// Observes something that is not a number.
#include "watched.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(watched::State& s, fl::Index) {
  s.odd = "not finite";
  watched::sum(s);
}

}  // namespace

FL_VARIANT(watched, step)
