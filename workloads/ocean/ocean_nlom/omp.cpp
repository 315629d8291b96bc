// Threads share the lines of the ocean, loop by loop, as MICOM had it.
#include "kernels/semi.hpp"

namespace {

struct Loops : ocean_nlom::Right {
  static constexpr bool bands = false;
};
using Threads = ocean_nlom::Semi<fl::grid::OneProcess, fl::grid::OpenMp, Loops>;

}  // namespace

FL_VARIANT(ocean_nlom, Threads)
