// Each rank saves its block in its own folder, and a copy in the folder of a partner. One rank loses its folder before the restart.
#include "kernels/mpi.hpp"

namespace {

struct Partner : checkpoint::OfRanks<> {
  Partner() { place.protection = fl::checkpoints::Protection::partner; }
};

}  // namespace

FL_VARIANT(checkpoint, Partner, .traits = {.copies = 2, .needs_ranks = true}, .idle = true)
