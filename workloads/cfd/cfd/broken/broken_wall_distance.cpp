// Wrong on purpose: what is given at a side is a whole cell away, not half of one.
#include "kernels/simple.hpp"

namespace {

struct Wrong : cfd::FlowSides {
  static void velocity_ghosts(const cfd::Rim& rim, const auto& f, std::size_t d, double speed) {
    FlowSides::velocity_ghosts(rim, f, d, speed);
    cfd::each_beside(rim, f, [&](fl::Index c, fl::Index outwards, const cfd::Boundary& at) {
      if (cfd::given(at, rim, d)) f.velocity[d][c + outwards] = speed * at.velocity[d];
    });
  }
};

using Run = cfd::InEither<cfd::Alone, cfd::PlainRows, false, Wrong>;

}  // namespace

FL_VARIANT(cfd, Run, .traits = {.narrow = true})
