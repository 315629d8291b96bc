// Wrong on purpose: one pole of the approximation has no weight.
#include "../even_odd.hpp"
#include "kernels/application.hpp"

namespace {

using Application = dirac_overlap::Application<lqcd::ScalarHop<double>>;

struct Weightless : Application {
  explicit Weightless(const dirac_overlap::State& s) : Application(s) {
    overlap.approximation().weight[static_cast<std::size_t>(s.poles) - 1] = 0;
  }
};

}  // namespace

FL_VARIANT(dirac_overlap, Weightless)
