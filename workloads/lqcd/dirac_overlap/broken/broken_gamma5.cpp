// Wrong on purpose: 1/2 (1 + sign(H)), without g5.
#include "../even_odd.hpp"
#include "kernels/application.hpp"

namespace {

using Application = dirac_overlap::Application<lqcd::ScalarHop<double>>;

struct Unturned : Application {
  using Application::Application;

  void step(dirac_overlap::State& s, fl::Index iteration) {
    Application::step(s, iteration);
    auto& algebra = overlap.algebra();
    algebra.axpy(-s.scale / 2, s.psi, s.out);
    algebra.turn(s.out);
    algebra.axpy(s.scale / 2, s.psi, s.out);
  }
};

}  // namespace

FL_VARIANT(dirac_overlap, Unturned)
