// What the solver found beyond a tile never arrives there.
#include "firstlight/collectives/alltoall.hpp"
#include "firstlight/grid/mpi.hpp"
#include "kernels/semi.hpp"

namespace {

struct Wrong : ocean_nlom::Right {
  static constexpr bool arrives = false;
};
using Broken = ocean_nlom::Semi<fl::grid::Mpi, fl::grid::Alone, Wrong>;
std::string semi_only(const ocean_nlom::Params& p) { return p.time == ocean_nlom::Time::semi ? "" : "this variant needs time=semi"; }

}  // namespace

FL_VARIANT(ocean_nlom, Broken, .refuse = semi_only)
