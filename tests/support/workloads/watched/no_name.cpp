// Observes under a name that no record accepts.
#include "watched.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(watched::State& s, fl::Index) {
  s.odd = "name";
  watched::sum(s);
}

}  // namespace

FL_VARIANT(watched, step)
