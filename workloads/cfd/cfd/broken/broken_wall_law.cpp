// Wrong on purpose: walls drag by the molecular viscosity alone, as if no eddies were near them.
#include "kernels/simple.hpp"

namespace {

struct Wrong : cfd::FlowSides {
  static void property_ghosts(const cfd::Rim& rim, const cfd::Arrays& f, double speed, double heat, const cfd::Wall& wall) {
    FlowSides::property_ghosts(rim, f, speed, heat, wall);
    cfd::each_beside(rim, f, [&](fl::Index c, fl::Index outwards, const cfd::Boundary& at) {
      if (at.edge == cfd::Edge::wall) f.eddy[c + outwards] = -f.eddy[c];
    });
  }
};

using Run = cfd::Simple<cfd::Alone, cfd::PlainRows, false, Wrong>;

}  // namespace

FL_VARIANT(cfd, Run)
