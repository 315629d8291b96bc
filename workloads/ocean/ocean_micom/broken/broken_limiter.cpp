// Adds to upwind fluxes all that centred ones have more: layers become thinner than nothing.
#include "kernels/run.hpp"

namespace {

struct Wrong : ocean_micom::Right {
  static constexpr bool limited = false;
};
using Broken = ocean_micom::Run<fl::grid::OneProcess, fl::grid::Alone, Wrong>;

}  // namespace

FL_VARIANT(ocean_micom, Broken)
