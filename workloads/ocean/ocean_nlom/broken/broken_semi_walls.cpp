// The southern wall of the tridiagonal systems has pressure instead of no flow.
#include "kernels/semi.hpp"

namespace {

struct Wrong : ocean_nlom::Right {
  static constexpr bool walls = false;
};
using Broken = ocean_nlom::Semi<fl::grid::OneProcess, fl::grid::Alone, Wrong>;
std::string semi_only(const ocean_nlom::Params& p) { return p.time == ocean_nlom::Time::semi ? "" : "this variant needs time=semi"; }

}  // namespace

FL_VARIANT(ocean_nlom, Broken, .refuse = semi_only)
