// What the ocean workloads share: layers of constant density, hydrostatic and Boussinesq, on Arakawa's C-grid.
//
//   u_t =  (zeta + f) v - dx(M + K) + A lap u + wind - drag          (v likewise)
//   h_t = -div(h u),      M_k = sum_{j <= k} g_j eta_j,      eta_j = b + sum_{i >= j} h_i
//
// Layer 0 is the top one. u is on the western face of a cell, v on the southern one, h and M in its centre, vorticity on its
// south-western corner. A workload's Params define how many layers there are, how thick they are at rest, what weighs on them and how the
// Earth turns, how long a time step may be and whether a wind blows: `layers`, rest(k), reduced(k), coriolis(j), linear(), longest(),
// driven(), gyre().
#pragma once

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "firstlight/grid/grid.hpp"
#include "firstlight/grid/way.hpp"

namespace ocean {

namespace grid = fl::grid;
using fl::Index;

enum class Form { energy, enstrophy };  // which of the two a frictionless flow keeps: R. Sadourny, J. Atmos. Sci. 32 (1975) 680
enum class Slip { free, none };

inline constexpr double gravity = 9.81, density = 1000;  // m/s^2, kg/m^3
inline constexpr double gyre_depth = 1000;               // m
inline constexpr double gyre_weak = 1e-5;                // of a gyre's wind: so weak that what is not linear is 1e-4 of what is
inline constexpr double most_filtered = 0.2;

// The cells of an ocean and how it is cut.
struct Extent {
  Index nx = 64, ny = 64, px = 0, py = 0;
  grid::Way halo = grid::Way::two_sided;
  double length = 1e6, width = 1e6;
  void declare_cells(fl::Fields& fields) {
    fields.integer("nx", nx, "cells", 8, 1 << 16, "cells from west to east");
    fields.integer("ny", ny, "cells", 8, 1 << 16, "cells from south to north");
    fields.real("length", length, "m", 1e3, 4e7, "extent of the ocean from west to east");
    fields.real("width", width, "m", 1e3, 4e7, "extent of the ocean from south to north");
  }
  void declare_processes(fl::Fields& fields) {
    fields.integer("px", px, "processes", 0, 4096, "processes from west to east; 0: automatic");
    fields.integer("py", py, "processes", 0, 4096, "processes from south to north; 0: automatic");
    fields.choice("halo", halo, grid::ways, grid::about_ways);
  }
  Index columns() const { return 0; }  // of flows that are together, a strip; 0: all
  double dx() const { return length / static_cast<double>(nx); }
  double dy() const { return width / static_cast<double>(ny); }
};

// All that a run advances.
struct Flow {
  grid::Field<double, 3> u, v, h;
  std::array<grid::Field<double, 3>*, 3> all() { return {&u, &v, &h}; }
};
// With its halos.
inline void copy(Flow& from, Flow& to) {
  auto a = from.all(), b = to.all();
  for (std::size_t n = 0; n < 3; ++n) std::copy_n(a[n]->data(), a[n]->layout().elements, b[n]->data());
}
inline void poison(Flow& flow) {
  for (auto* field : flow.all()) fl::poison(field->data(), field->layout().elements);
}

template <class P>
struct Sea {
  P p;
  fl::Team team;
  grid::Block<3> block;
  Flow start, now;                           // at the start of a run; as it is
  grid::Field<double, 3> flux_u, flux_v;     // thickness times velocity
  grid::Field<double, 3> potential, head;    // vorticity: (zeta + f) / h; M + K
  grid::Field<double, 3> vorticity, spread;  // of the flow alone; its divergence
  grid::Field<double, 3> wet, bottom;        // one layer: 1 or 0; height of the bottom above the deepest
  grid::Field<double, 3> face_u, face_v;     // one layer: 1 between two wet cells
  grid::Field<double, 3> corners, edge;      // one layer: wet cells around a corner; what of its vorticity counts
  std::vector<double> jet_h, jet_u;          // of lines by layer: the balanced jet
  double dt = 0, wind = 0;                   // of this run
  std::array<grid::Field<double, 3>*, 6> diagnosed() { return {&flux_u, &flux_v, &potential, &head, &vorticity, &spread}; }
};

// Memory for what follows from a flow: `fields` of s.diagnosed(), as wide as the block.
template <class State, class Fields>
void keep_whole(State& s, const Fields& fields) {
  for (auto* field : fields) {
    *field = grid::Field<double, 3>(s.block.size(), s.p.domain().halo);
    fl::poison(field->data(), field->layout().elements);
  }
}

// At the centre of line j, and `wind` at the northern end.
template <class P>
double stress_at(const P& p, Index j, double wind) {
  return -wind * std::cos(M_PI * (static_cast<double>(j) + 0.5) / static_cast<double>(p.ny));
}

// A run differs from all others of a batch in the length of its time steps and in its wind.
template <class P>
void mutate_inputs(Sea<P>& s, Index iteration) {
  const double share = 1 - (fl::step_factor(iteration) - 1) / 64;
  s.dt = s.p.longest() * share;
  s.wind = s.p.driven() ? s.p.wind * share * (s.p.gyre() ? gyre_weak : 1) : 0;
}

}  // namespace ocean
