// One process writes only the blocks of 64 KiB that changed since the checkpoint that they replace.
#include "kernels/saving.hpp"

namespace {

struct Changed : checkpoint::Lone<> {
  Changed() { place.kind = fl::checkpoints::Kind::slots; }
};

}  // namespace

FL_VARIANT(checkpoint, Changed, .traits = {.changes_only = true}, .idle = true)
