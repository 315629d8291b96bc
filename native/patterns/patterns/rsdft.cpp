// Density functional theory on a grid in space: processes share the grid, and groups of as many share the bands. The finite differences need
// the rims of six neighbours; orthogonalisation works on blocks of bands: products over the grid are summed, finished blocks are passed on.
#include "neighbours.hpp"
#include "together.hpp"

namespace fl::patterns {

namespace {

Instance instance(Rank ranks, const Values& v) {
  const auto groups = static_cast<Rank>(value(v, "groups"));
  if (ranks % groups != 0)
    throw Refused("rsdft needs groups=" + std::to_string(groups) + " to divide the processes; " + std::to_string(ranks) +
                  " processes given");
  const Rank parts = ranks / groups;  // of the grid in each group
  const Grid4 grid = grid_of("rsdft", ranks, 4, {groups, value(v, "pz"), value(v, "py"), value(v, "px")});
  const std::int64_t n = value(v, "n"), bands = value(v, "bands"), block = value(v, "block"), rim = n * n * value(v, "width") * 8;
  const auto in_space = row_of(parts), across = column_of(parts, groups);
  const std::int64_t of_group = (bands + groups - 1) / groups;
  Instance made{.iterations = 20, .shape = shape_of(grid, groups > 1 ? 4 : 3)};
  const std::int64_t blocks = (of_group + block - 1) / block;
  made.phases.push_back(faces("rims of a block of bands", grid, {0, rim * block, rim * block, rim * block}, true, blocks));
  made.phases.push_back(together("products of a block", Collective::allreduce, 8 * block * block, in_space, blocks));
  made.phases.push_back(
      together("Hamiltonian between bands", Collective::reduce_scatter, (8 * of_group * of_group / parts + 7) / 8 * 8, in_space));
  made.phases.push_back(together("eigenvectors", Collective::broadcast, 8 * of_group * of_group, in_space));
  made.phases.push_back(together("blocks of other groups", Collective::allgather, 8 * block * n * n * n, across));
  made.phases.push_back(together("density", Collective::allreduce, 8 * n * n * n, across));
  made.phases.push_back(together("energies", Collective::reduce, 8 * of_group, all_ranks(ranks)));
  return made;
}

}  // namespace

FL_PATTERN(rsdft){
    .name = "rsdft",
    .title = "density functional theory on a grid: six neighbours, sums over space and over bands",
    .applications = "RSDFT (density functional theory in real space)",
    .source = "allreduce, broadcast, neighbours, reduce, reduce-scatter and allgather by R4's table of applications; sizes are parameters",
    .parameters = {{.name = "n", .value = 12, .least = 1, .most = 512, .means = "grid points of a process along each axis"},
                   {.name = "width", .value = 6, .least = 1, .most = 64, .means = "width of the finite difference, in points"},
                   {.name = "bands", .value = 256, .least = 1, .most = 1 << 20, .means = "bands of all groups"},
                   {.name = "block", .value = 64, .least = 1, .most = 4096, .means = "bands that are orthogonalised together"},
                   {.name = "groups", .value = 1, .least = 1, .most = 1 << 16, .means = "groups of processes, which share the bands"},
                   count("px", "processes of a group along x; 0: as cubic as possible"),
                   count("py", "processes of a group along y"),
                   count("pz", "processes of a group along z")},
    .small = {"n=6", "width=3", "bands=4", "block=4"},
    .instance = instance};

}  // namespace fl::patterns
