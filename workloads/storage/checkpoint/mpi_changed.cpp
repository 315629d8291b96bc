// Each rank writes only the blocks of 64 KiB that changed since the checkpoint that they replace.
#include "kernels/mpi.hpp"

namespace {

struct Changed : checkpoint::OfRanks<> {
  Changed() { place.kind = fl::checkpoints::Kind::slots; }
};

}  // namespace

FL_VARIANT(checkpoint, Changed, .traits = {.changes_only = true}, .idle = true)
