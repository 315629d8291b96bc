// Nothing is brought to the disk: a power failure would lose it.
#include "kernels/saving.hpp"

namespace {

struct Hasty : fl::checkpoints::Right {
  static constexpr bool syncs = false;
};

using Saved = checkpoint::Lone<checkpoint::Saving, Hasty>;

}  // namespace

FL_VARIANT(checkpoint, Saved, .idle = true)
