// The mean of what pushes the layers counts each of them alike, however thick it is.
#include "kernels/run.hpp"

namespace {

struct Wrong : ocean_micom::Right {
  static constexpr bool weighted = false;
};
using Broken = ocean_micom::Run<fl::grid::OneProcess, fl::grid::Alone, Wrong>;

}  // namespace

FL_VARIANT(ocean_micom, Broken)
