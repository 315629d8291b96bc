// The user's parameters of the lattice and its processes, and what cannot be done with it: the same for all workloads of this folder.
#pragma once

#include "firstlight/variant.hpp"
#include "layout.hpp"

namespace lqcd {

// The parameters of a workload begin with these.
struct Geometry {
  Index t = 8, x = 8, y = 8, z = 8;
  Index pt = 0, px = 0, py = 0, pz = 0;
  std::string boundary = "antiperiodic";

  void declare_extents(fl::Fields& fields) {
    fields.integer("t", t, "sites", 2, most, "extent in time, even");
    fields.integer("x", x, "sites", 2, most, "extent in x, even");
    fields.integer("y", y, "sites", 2, most, "extent in y, even");
    fields.integer("z", z, "sites", 2, most, "extent in z, even; neighbours in memory");
  }
  void declare_boundary(fl::Fields& fields) {
    fields.choice("boundary", boundary, "antiperiodic|periodic", "boundary condition of fermions in time");
  }
  void declare_processes(fl::Fields& fields) {
    fields.integer("pt", pt, "processes", 0, most, "processes along t; 0: automatic");
    fields.integer("px", px, "processes", 0, most, "processes along x; 0: automatic");
    fields.integer("py", py, "processes", 0, most, "processes along y; 0: automatic");
    fields.integer("pz", pz, "processes", 0, most, "processes along z; 0: automatic");
  }

  Extents global() const { return {t, x, y, z}; }
  bool antiperiodic() const { return boundary == "antiperiodic"; }
  ProcessGrid grid(const fl::Team& team) const { return process_grid(global(), team.ranks, {pt, px, py, pz}); }
  Lattice block(const fl::Team& team) const { return grid(team).block(global(), team.rank); }

 private:
  static constexpr Index most = 4096;
};

struct Traits {
  int vector_bytes = 0;            // of a vector whose lanes are sub-lattices; 0: one site after the other
  bool colours_outside = false;    // see Layout
  bool several_processes = false;  // it needs two at least

  // How many numbers of so many bits a vector holds.
  int lanes(Index bits) const { return vector_bytes == 0 ? 1 : 8 * vector_bytes / static_cast<int>(bits); }
};

// Why a workload of that name cannot run with numbers of so many bits.
inline std::string refuse(const char* name, const Geometry& g, const fl::Team& team, const Traits& traits, Index bits) {
  const Extents global = g.global();
  for (std::size_t mu = 0; mu < 4; ++mu)
    if (global[mu] % 2 != 0) return fl::text("%s needs even extents; %s=%lld given", name, dimension_names[mu], global[mu]);
  const ProcessGrid grid = g.grid(team);
  if (!grid.valid)
    return fl::text("%s needs a process grid pt, px, py, pz with a product of %d that leaves each process even extents of %s", name,
                    team.ranks, words(global).c_str());
  if (traits.several_processes && team.ranks < 2) return fl::text("this variant of %s needs at least 2 processes", name);
  const Lattice block = grid.block(global, 0);
  const int lanes = traits.lanes(bits);
  if (!Layout(block, lanes).valid())
    return fl::text("this variant of %s needs a lattice that splits into %d parts of even extents; %s%s does not", name, lanes,
                    words(block.local).c_str(), team.ranks > 1 ? " per process" : "");
  return "";
}

}  // namespace lqcd
