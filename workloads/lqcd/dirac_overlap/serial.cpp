// One site after the other in plain numbers: what every other variant is compared with.
#include "../even_odd.hpp"
#include "machine.hpp"

namespace {

using Works = dirac_overlap::Works<lqcd::ScalarHop<double>>;

}  // namespace

FL_VARIANT(dirac_overlap, Works::step, .setup = FL_HOOK(dirac_overlap, Works::setup), .finish = FL_HOOK(dirac_overlap, Works::finish))
