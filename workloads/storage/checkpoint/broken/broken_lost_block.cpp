// One block in the middle is not written: the file has a hole there.
#include "kernels/saving.hpp"

namespace {

struct Holes : fl::checkpoints::Right {
  static constexpr bool whole = false;
};

using Saved = checkpoint::Lone<checkpoint::Saving, Holes>;

}  // namespace

FL_VARIANT(checkpoint, Saved, .idle = true)
