// The gradient of the kinetic energy is lost, which the form by vorticity has instead of the metric term.
#include "kernels/run.hpp"

namespace {

struct Wrong : ocean_nlom::Right {
  static constexpr bool kinetic = false;
};
using Broken = ocean_nlom::Run<fl::grid::OneProcess, fl::grid::Alone, Wrong>;

}  // namespace

FL_VARIANT(ocean_nlom, Broken)
