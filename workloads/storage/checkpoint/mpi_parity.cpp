// Each rank saves its block in its own folder, and parity of the others of its group. One rank loses its folder before the restart.
#include "kernels/mpi.hpp"

namespace {

struct WithParity : checkpoint::OfRanks<> {
  WithParity() { place.protection = fl::checkpoints::Protection::parity; }
};

}  // namespace

FL_VARIANT(checkpoint, WithParity, .traits = {.copies = 2, .needs_ranks = true}, .idle = true)
