// A phase within a phase; the code before them is in no phase.
#include "relaxed.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(relaxed::State& s, fl::Index) {
  relaxed::begin(s);
  fl::In in(relaxed::phases("update"));
  for (fl::Index k = 0; k < s.runs; ++k) {
    relaxed::update(s);
    fl::In inner(relaxed::phases("norm"));
    relaxed::pass(1e-4);
  }
}

}  // namespace

FL_VARIANT(relaxed, step)
