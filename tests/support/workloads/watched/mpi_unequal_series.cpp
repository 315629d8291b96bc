// Has a series on one rank only.
#include "watched.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(watched::State& s, fl::Index) {
  s.odd = "unequal series";
  watched::sum(s);
}

}  // namespace

FL_VARIANT(watched, step)
