// Wrong on purpose: the pressure at an outlet is 0 a whole cell beyond the last one, not half of one.
#include "kernels/simple.hpp"

namespace {

struct Wrong : cfd::FlowSides {
  static void pressure_ghosts(const cfd::Rim& rim, const cfd::Arrays& f, double* pressure, bool alone) {
    FlowSides::pressure_ghosts(rim, f, pressure, alone);
    cfd::each_beside(rim, f, [&](fl::Index c, fl::Index outwards, const cfd::Boundary& at) {
      if (at.edge == cfd::Edge::outlet) pressure[c + outwards] = 0;
    });
  }
};

using Run = cfd::Simple<cfd::Alone, cfd::PlainRows, false, Wrong>;

}  // namespace

FL_VARIANT(cfd, Run)
