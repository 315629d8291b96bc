// Wrong on purpose: for the cycles of multigrid corrections of the pressure are 0 at walls, too. They come to the same flow.
#include "kernels/simple.hpp"

namespace {

struct Wrong : cfd::FlowSides {
  static cfd::Shape shape(const cfd::State& s) { return {.mirror = cfd::zero_at_sides, .coupling = s.box.coupling()}; }
};

using Run = cfd::Simple<cfd::Alone, cfd::PlainRows, false, Wrong>;

}  // namespace

FL_VARIANT(cfd, Run)
