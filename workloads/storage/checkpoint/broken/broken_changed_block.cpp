// Only every second block that changed is written; the others are those of an earlier generation.
#include "kernels/saving.hpp"

namespace {

struct Holes : fl::checkpoints::Right {
  static constexpr bool whole = false;
};

struct Changed : checkpoint::Lone<checkpoint::Saving, Holes> {
  Changed() { place.kind = fl::checkpoints::Kind::slots; }
};

}  // namespace

FL_VARIANT(checkpoint, Changed, .traits = {.changes_only = true}, .idle = true)
