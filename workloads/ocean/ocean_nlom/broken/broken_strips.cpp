// Strips receive adjacent columns before halos arrive, which in the lines of halos is too early.
#include "kernels/run.hpp"

namespace {

struct Wrong : ocean_nlom::Right {
  static constexpr bool joins_last = false;
};
using Broken = ocean_nlom::Run<fl::grid::OneProcess, fl::grid::Alone, Wrong>;
std::string strips_only(const ocean_nlom::Params& p) {
  return p.columns() > 0 && p.nx > p.columns() ? "" : "this variant needs strips: time=explicit and strip less than nx";
}

}  // namespace

FL_VARIANT(ocean_nlom, Broken, .refuse = strips_only)
