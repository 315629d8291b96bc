// A loop of its own, called for one step at a time.
#include "relaxed.hpp"

#include "firstlight/variant.hpp"

namespace {

void loop(relaxed::State& s, fl::Index first, fl::Index count) {
  if (count != 1) return;
  mutate_inputs(s, first);
  relaxed::begin(s);
  for (fl::Index k = 0; k < s.runs; ++k) relaxed::update(s);
}

}  // namespace

FL_VARIANT(relaxed, loop)
