// Lattice QCD: the Wilson operator sends half spinors across the faces of a process's part of a four-dimensional lattice, in 6 directions
// where the fourth dimension stays within a process, else in 8. The solver then sums two scalars over all processes.
#include "neighbours.hpp"

namespace fl::patterns {

namespace {

Instance instance(Rank ranks, const Values& v) {
  const bool eight = value(v, "directions") == 1;
  const Grid4 grid =
      grid_of("lattice_qcd", ranks, eight ? 4 : 3, {eight ? value(v, "pt") : 1, value(v, "pz"), value(v, "py"), value(v, "px")});
  const std::array<std::int64_t, 4> n{value(v, "nt"), value(v, "nz"), value(v, "ny"), value(v, "nx")};
  const std::int64_t sites = n[0] * n[1] * n[2] * n[3], half_spinor = 12 * (value(v, "precision") == 0 ? 4 : 8);
  std::array<std::int64_t, 4> bytes{};
  for (std::size_t d = 0; d < 4; ++d) bytes[d] = sites / n[d] * half_spinor;
  Instance made{.iterations = 1000, .shape = shape_of(grid, eight ? 4 : 3)};
  made.phases.push_back(faces("half spinors", grid, bytes, true, 2));  // the operator and its adjoint
  made.phases.push_back(
      {.name = "scalar products",
       .repetitions = 2,
       .together = {Collective::allreduce, [](const Group&) { return std::int64_t{8}; }, [ranks](Rank) { return Group{.count = ranks}; }}});
  return made;
}

}  // namespace

FL_PATTERN(lattice_qcd){
    .name = "lattice_qcd",
    .title = "six or eight neighbours in four dimensions, global sums",
    .applications = "lattice QCD (Wilson operator)",
    .source = "6 and 8 directions by R4's table of applications; half spinors of 12 real numbers are the usual form",
    .parameters = {{.name = "directions", .value = 0, .means = "6: the fourth dimension stays within a process", .words = {"6", "8"}},
                   {.name = "nx", .value = 8, .least = 1, .most = 1024, .means = "sites of a process along x"},
                   {.name = "ny", .value = 8, .least = 1, .most = 1024, .means = "sites of a process along y"},
                   {.name = "nz", .value = 8, .least = 1, .most = 1024, .means = "sites of a process along z"},
                   {.name = "nt", .value = 32, .least = 1, .most = 1024, .means = "sites of a process along t"},
                   {.name = "precision", .value = 1, .means = "precision of messages", .words = {"single", "double"}},
                   count("px", "processes along x; 0: as cubic as possible"),
                   count("py", "processes along y"),
                   count("pz", "processes along z"),
                   count("pt", "processes along t, with 8 directions")},
    .small = {"nx=4", "ny=4", "nz=4", "nt=4"},
    .instance = instance};

}  // namespace fl::patterns
