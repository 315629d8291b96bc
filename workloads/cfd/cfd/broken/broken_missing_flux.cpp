// Wrong on purpose: the balance of the first cells of rows leaves out the face above them.
#include "kernels/simple.hpp"

namespace {

struct Wrong : cfd::FlowSides {
  static void correction_row(const auto& f, const cfd::Vector& area, const cfd::Vector& spacing, double relax, fl::Index c, fl::Index n) {
    FlowSides::correction_row(f, area, spacing, relax, c, n);
    f.b[c] += f.flux[1][c];
  }
};

using Run = cfd::InEither<cfd::Alone, cfd::PlainRows, false, Wrong>;

}  // namespace

FL_VARIANT(cfd, Run, .traits = {.narrow = true})
