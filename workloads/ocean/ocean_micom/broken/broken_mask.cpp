// Flows through coasts.
#include "kernels/run.hpp"

namespace {

struct Wrong : ocean_micom::Right {
  static constexpr bool coasts = false;
};
using Broken = ocean_micom::Run<fl::grid::OneProcess, fl::grid::Alone, Wrong>;

}  // namespace

FL_VARIANT(ocean_micom, Broken)
