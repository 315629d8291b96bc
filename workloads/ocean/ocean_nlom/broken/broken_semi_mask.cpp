// The solver of implicit waves ignores land.
#include "kernels/semi.hpp"

namespace {

struct Wrong : ocean_nlom::Right {
  static constexpr bool masked = false;
};
using Broken = ocean_nlom::Semi<fl::grid::OneProcess, fl::grid::Alone, Wrong>;
std::string iterated_only(const ocean_nlom::Params& p) { return p.iterates() ? "" : "this variant needs time=semi solver=cg"; }

}  // namespace

FL_VARIANT(ocean_nlom, Broken, .refuse = iterated_only)
