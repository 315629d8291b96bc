// Sub-steps of the surface continue during the halo exchange of the first one.
#include "firstlight/grid/mpi.hpp"
#include "kernels/run.hpp"

namespace {

struct Wrong : ocean_micom::Right {
  static constexpr bool exchanged = false;
};
using Broken = ocean_micom::Run<fl::grid::Mpi, fl::grid::Alone, Wrong>;

}  // namespace

FL_VARIANT(ocean_micom, Broken)
