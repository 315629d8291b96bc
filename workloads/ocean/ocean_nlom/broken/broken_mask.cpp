// Flows through coasts.
#include "kernels/run.hpp"

namespace {

struct Wrong : ocean_nlom::Right {
  static constexpr bool coasts = false;
};
using Broken = ocean_nlom::Run<fl::grid::OneProcess, fl::grid::Alone, Wrong>;

}  // namespace

FL_VARIANT(ocean_nlom, Broken)
