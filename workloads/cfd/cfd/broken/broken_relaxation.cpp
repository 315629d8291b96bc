// Wrong on purpose: velocities are not relaxed.
#include "kernels/simple.hpp"

namespace {

struct Wrong : cfd::FlowSides {
  static double momentum_row(const auto& f, std::size_t d, double volume, double spacing, double, fl::Index c, fl::Index n) {
    return FlowSides::momentum_row(f, d, volume, spacing, 1, c, n);
  }
};

using Run = cfd::InEither<cfd::Alone, cfd::PlainRows, false, Wrong>;

}  // namespace

FL_VARIANT(cfd, Run, .traits = {.narrow = true})
