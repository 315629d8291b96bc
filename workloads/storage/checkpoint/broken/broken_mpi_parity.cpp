// The parity is zero: a lost member cannot be rebuilt from it.
#include "kernels/mpi.hpp"

namespace {

struct Zeros : fl::checkpoints::Right {
  static constexpr bool parity = false;
};

struct WithParity : checkpoint::OfRanks<checkpoint::Saving, Zeros> {
  WithParity() { place.protection = fl::checkpoints::Protection::parity; }
};

}  // namespace

FL_VARIANT(checkpoint, WithParity, .traits = {.copies = 2, .needs_ranks = true}, .idle = true)
