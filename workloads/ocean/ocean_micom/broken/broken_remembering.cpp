// Uses the time step of the first run for all others.
#include "kernels/run.hpp"

namespace {

struct Remembering : ocean_micom::Run<> {
  double dt = 0;

  void step(ocean_micom::State& s, fl::Index iteration) {
    if (dt == 0) dt = s.dt;
    s.dt = dt;
    Run::step(s, iteration);
  }
};

}  // namespace

FL_VARIANT(ocean_micom, Remembering)
