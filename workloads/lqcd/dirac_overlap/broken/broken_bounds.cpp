// Wrong on purpose: the lowest eigenvalues of H lie where the approximation does not hold.
#include "../even_odd.hpp"
#include "kernels/application.hpp"

namespace {

using Application = dirac_overlap::Application<lqcd::ScalarHop<double>>;

struct Narrow : Application {
  explicit Narrow(const dirac_overlap::State& s) : Application(s, {4 * s.least, s.most}) {}
};

}  // namespace

FL_VARIANT(dirac_overlap, Narrow)
