// LANS and other three-dimensional flow solvers: blocks of a box exchange the rims of several variables with six neighbours.
#include "neighbours.hpp"

namespace fl::patterns {

namespace {

Instance instance(Rank ranks, const Values& v) {
  const Grid4 grid = grid_of("lans", ranks, 3, {1, value(v, "pz"), value(v, "py"), value(v, "px")});
  const std::int64_t x = value(v, "nx"), y = value(v, "ny"), z = value(v, "nz");
  const std::int64_t each = value(v, "width") * value(v, "variables") * 8;
  return {.phases = {faces("six neighbours", grid, {0, x * y * each, x * z * each, y * z * each}, value(v, "periodic") != 0)},
          .shape = shape_of(grid, 3)};
}

}  // namespace

FL_PATTERN(lans){.name = "lans",
                 .title = "six neighbours in three dimensions",
                 .applications = "LANS (compressible flow), structured grids in three dimensions",
                 .source = "six neighbours by R4's table of applications; five conserved variables and a halo of two cells are common",
                 .parameters = {{.name = "nx", .value = 64, .least = 1, .most = 1 << 14, .means = "cells of a process along x"},
                                {.name = "ny", .value = 64, .least = 1, .most = 1 << 14, .means = "cells of a process along y"},
                                {.name = "nz", .value = 64, .least = 1, .most = 1 << 14, .means = "cells of a process along z"},
                                {.name = "variables", .value = 5, .least = 1, .most = 1000, .means = "doubles per cell in a message"},
                                {.name = "width", .value = 2, .least = 1, .most = 64, .means = "width of the halo, in cells"},
                                {.name = "periodic", .value = 0, .means = "whether the box is periodic", .words = {"no", "yes"}},
                                count("px", "processes along x; 0: as cubic as possible"),
                                count("py", "processes along y"),
                                count("pz", "processes along z")},
                 .small = {"nx=8", "ny=8", "nz=8"},
                 .instance = instance};

}  // namespace fl::patterns
