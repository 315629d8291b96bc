// Does a time step too few: the fields are those of a moment before.
#include "kernels/run.hpp"

namespace {

struct Late : fdtd2d::Run<> {
  void step(fdtd2d::State& s, fl::Index iteration) {
    s.p.steps -= 1;
    Run::step(s, iteration);
    s.p.steps += 1;
  }
};

}  // namespace

FL_VARIANT(fdtd2d, Late)
