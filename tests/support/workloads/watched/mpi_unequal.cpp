// Observes something else on each rank.
#include "watched.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(watched::State& s, fl::Index) {
  s.odd = "unequal";
  watched::sum(s);
}

}  // namespace

FL_VARIANT(watched, step)
