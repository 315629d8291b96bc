// Marks a phase that about does not list.
#include "relaxed.hpp"

#include "firstlight/variant.hpp"

namespace {

constexpr fl::Phases more{"a", "b", "c", "d"};

void step(relaxed::State& s, fl::Index) {
  fl::In in(more("d"));
  relaxed::begin(s);
}

}  // namespace

FL_VARIANT(relaxed, step)
