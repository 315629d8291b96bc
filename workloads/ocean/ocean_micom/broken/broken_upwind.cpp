// Upwind fluxes enter a cell through its western face and leave it the wrong way.
#include "kernels/run.hpp"

namespace {

struct Wrong : ocean_micom::Right {
  static constexpr bool inside = false;
};
using Broken = ocean_micom::Run<fl::grid::OneProcess, fl::grid::Alone, Wrong>;

}  // namespace

FL_VARIANT(ocean_micom, Broken)
