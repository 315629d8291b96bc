// One site after the other in plain numbers: what every other variant is compared with.
#include "../even_odd.hpp"
#include "kernels/application.hpp"

namespace {

using Application = dirac_overlap::Application<lqcd::ScalarHop<double>>;

}  // namespace

FL_VARIANT(dirac_overlap, Application)
