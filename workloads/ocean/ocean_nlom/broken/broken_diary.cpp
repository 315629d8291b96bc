// Writes down the energy of what moves alone, not that of surfaces.
#include "kernels/semi.hpp"

namespace {

struct Wrong : ocean_nlom::Right {
  static constexpr bool surfaces = false;
};
using Broken = ocean_nlom::Semi<fl::grid::OneProcess, fl::grid::Alone, Wrong>;
std::string diaries_only(const ocean_nlom::Params& p) { return p.diary > 0 ? "" : "this variant needs a diary"; }

}  // namespace

FL_VARIANT(ocean_nlom, Broken, .refuse = diaries_only)
