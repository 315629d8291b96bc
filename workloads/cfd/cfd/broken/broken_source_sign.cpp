// Wrong on purpose: the pressure pulls where it should push.
#include "kernels/simple.hpp"

namespace {

struct Wrong : cfd::FlowSides {
  static double momentum_row(const auto& f, std::size_t d, double volume, double spacing, double relax, fl::Index c, fl::Index n) {
    return FlowSides::momentum_row(f, d, volume, -spacing, relax, c, n);
  }
};

using Run = cfd::InEither<cfd::Alone, cfd::PlainRows, false, Wrong>;

}  // namespace

FL_VARIANT(cfd, Run, .traits = {.narrow = true})
