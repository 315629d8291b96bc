// ocean_micom: isopycnic layers (see sea.hpp) that may vanish, the surface's waves advanced apart from them in short steps; R3 ran it as MICOM,
// the Miami Isopycnic Coordinate Ocean Model (R. Bleck and L. Smith, J. Geophys. Res. 95 (1990) 3273).
//
// Leapfrog steps with Asselin's filter. What pushes the layers, G_k, leaves the surface's slope out; its mean over the depth drives
//   eta_t = -div(D U),  U_t = <G> - g grad eta
// forward and backward in sub-steps from the step before to the next one; the slope is that of eta and of an eighth of its last change more, which
// damps waves that would else be in resonance with the long steps (MICOM, too, has an eighth there). Layers then get the mean slope of the sub-steps, and their fluxes the
// mean U: fluxes of layers add up to what the sub-steps carried. Thickness by S. Zalesak's flux-corrected transport (J. Comput. Phys. 31 (1979)
// 335): upwind first, then as much of the centred flux as leaves no new extreme, so that no layer is ever thinner than nothing; what layers
// together lose by that is given back to them.
// A step of the harness is a whole run of `steps` time steps.
#pragma once

#include "../sea.hpp"

namespace ocean_micom {

namespace grid = fl::grid;
using fl::Index;
using ocean::Flow;
using ocean::Form;
using ocean::gravity;
using ocean::Slip;

enum class Problem { basin, channel, lake, jet, stommel };
enum class Thickness { fct, upwind };

inline constexpr Index kept_fields = 14;  // of all layers: three flows, that at the start, and thickness at faces
inline constexpr Index most_layers = 16;
inline constexpr double full_depth = 5000;    // m
inline constexpr double thin = 1;             // m: a layer of less moves with the one above, and does not push
inline constexpr double nothing_left = 1e-3;  // m: a layer of less has vanished there
inline constexpr double stirred = 50;         // m, from the surface, share the wind's stress
inline constexpr double dragged = 100;        // m, from the bottom, are dragged
inline constexpr double leap = 0.125;         // of a change of the surface, ahead
inline constexpr double brief_limit = 0.85, inertial_limit = 0.9, internal_limit = 0.9;
inline constexpr double internal_speed = 3.6;  // m/s, of the fastest wave between layers

struct Params : ocean::Extent {
  Problem problem = Problem::basin;
  Form form = Form::energy;
  Slip slip = Slip::free;
  Thickness thickness = Thickness::fct;
  Index layers = most_layers, steps = 4, substeps = 16, restart = 0;
  double courant = 0.6, wind = 0.1, drag = 1e-6, viscosity = 100, biharmonic = 0, filter = 0.05;
  Params() { length = width = 1.28e6; }
  void declare(fl::Fields& fields) {
    fields.choice("problem", problem, "basin|channel|lake|jet|stommel",
                  "a basin with islands and a ridge; a channel with the same ridge; the basin at rest; a balanced jet; Stommel's gyre");
    fields.choice("form", form, "energy|enstrophy", "conserved quantity of the vorticity term");
    fields.choice("slip", slip, "free|none", "slip of the flow along coasts");
    fields.choice("thickness", thickness, "fct|upwind", "advection of the layers: flux-corrected, or pure upwind");
    declare_cells(fields);
    fields.integer("layers", layers, "layers", 1, most_layers, "number of layers, 5000 m in total; Stommel's gyre has one of 1000 m");
    fields.integer("steps", steps, "time steps", 1, 1 << 24, "time steps of a run");
    fields.integer("substeps", substeps, "sub-steps", 1, 256, "sub-steps for surface waves per time step");
    declare_processes(fields);
    fields.integer("restart", restart, "time steps", 0, 1 << 24, "interval after which the run is saved, discarded and restored; 0: never");
    fields.real("courant", courant, "1", 1e-3, 1, "Courant number of the surface waves in a sub-step");
    fields.real("wind", wind, "N/m^2", 0, 1, "wind stress at the northern end");
    fields.real("drag", drag, "1/s", 0, 1e-3, "bottom drag");
    fields.real("viscosity", viscosity, "m^2/s", 0, 1e6, "viscosity of the basin and the channel");
    fields.real("biharmonic", biharmonic, "m^4/s", 0, 1e16, "biharmonic viscosity of the basin and the channel");
    fields.real("filter", filter, "1", 0, ocean::most_filtered, "Asselin filter of the leapfrog steps");
  }
  bool stommel() const { return problem == Problem::stommel; }
  bool gyre() const { return stommel(); }
  bool closed() const { return problem != Problem::channel && problem != Problem::jet; }
  bool stirs() const { return problem == Problem::basin || problem == Problem::channel; }
  bool driven() const { return stirs() || stommel(); }
  bool linear() const { return false; }
  // In the energy form no corner is thinner than half of a face whose flux it turns; the other one turns fluxes of more faces.
  bool bounded() const { return form == Form::enstrophy; }
  double beta() const { return driven() ? 2e-11 : 0; }
  // Returns the parameter at the corners on line j of the whole domain.
  double coriolis(Index j) const { return 1e-4 + beta() * (static_cast<double>(j) * dy() - width / 2); }
  double depth() const { return stommel() ? ocean::gyre_depth : full_depth; }
  double rest(Index k) const { return depth() * static_cast<double>(2 * (k + 3)) / static_cast<double>(layers * (layers + 5)); }
  double reduced(Index k) const { return k == 0 ? gravity : 0.006 * std::exp(-static_cast<double>(k) / 4); }
  double speed() const { return 1.01 * std::sqrt(gravity * depth()); }  // of the surface's wave, and a little
  double cells_a_metre() const { return std::hypot(1 / dx(), 1 / dy()); }
  double longest() const { return static_cast<double>(substeps) * courant / (speed() * cells_a_metre()); }  // time step
  double dragged_depth() const { return stommel() ? depth() * 2 : dragged; }
  grid::Domain<3> domain() const {
    return {.extents = {layers, ny, nx}, .periodic = {false, false, !closed()}, .processes = {1, py, px}, .halo = {0, 3, 3}};
  }
};

using Plane = grid::Field<double, 3>;  // of one layer

// The mean over the depth.
struct Mean {
  Plane u, v, eta;         // as sub-steps advance them; height of the surface above its rest
  Plane ahead;             // the height that slopes are those of
  Plane push_u, push_v;    // what pushes it but the surface's slope
  Plane deep_u, deep_v;    // depth at faces
  Plane now_u, now_v;      // of the flow in the middle of a step
  Plane sum_u, sum_v;      // of all sub-steps: u and v
  Plane slope_u, slope_v;  // ... and g grad eta
  std::array<Plane*, 14> all() {
    return {&u, &v, &eta, &ahead, &push_u, &push_v, &deep_u, &deep_v, &now_u, &now_v, &sum_u, &sum_v, &slope_u, &slope_v};
  }
};

struct State : ocean::Sea<Params> {
  grid::Block<3> surface;  // the block of one layer
  Flow before, next;
  Mean mean;
  grid::Field<double, 3> thick_u, thick_v;  // of layers at faces, above the higher one of two bottoms
};

inline constexpr fl::Phases phases{"halo", "momentum", "surface", "thickness", "restart"};
inline constexpr fl::About about{
    .title = "Isopycnic ocean",
    .cost = "337 flop and 272 bytes per cell, layer and time step; 38 flop and 84 bytes per column and sub-step",
    .verified =
        "Every cell, compared with a run of the judge's own loops. No layer may have a negative thickness, and each must keep its "
        "mass. A lake at rest over a ridge and a balanced jet must not change. The transport of Stommel's gyre is compared with its "
        "solution.",
    .tolerance =
        "4 eps per time step of the speed of the surface wave and of the depth, times the Courant numbers of the sub-steps; mass of a"
        " layer 1e-15",
    .phases = phases,
};
inline constexpr fl::Metric metrics[] = {
    {"update_rate", "Mcell/s", "elements", "rate", 1e-6, "higher"},  // cells of a layer and time steps
    {"step_time", "ms", "operations", "time", 1e3, "lower"},
    {"halo_time", "us", "operations", "time", 1e6, "lower", phases("halo")},        // a time step
    {"surface_time", "us", "operations", "time", 1e6, "lower", phases("surface")},  // a time step
    {"day_time", "s", "day_time", "value", 1, "lower"},                             // wall time of a model day
    {"gyre_error", "1", "gyre_error", "value", 1, "lower"},
    {"digest", "1", "digest", "value", 1, "lower"},
};

inline double drag(const Params& p) { return p.driven() ? p.drag : 0; }
inline double viscosity(const Params& p) { return p.stirs() ? p.viscosity : 0; }
inline double biharmonic(const Params& p) { return p.stirs() ? p.biharmonic : 0; }

inline fl::Cost cost(const Params& p, const fl::Team& team) {
  const auto steps = static_cast<double>(p.steps), columns = static_cast<double>(p.nx * p.ny),
             cells = columns * static_cast<double>(p.layers);
  const double short_steps = columns * 2 * static_cast<double>(p.substeps);
  return {.flops = (337 * cells + 38 * short_steps) * steps,
          .bytes = (272 * cells + 84 * short_steps) * steps,
          .operations = steps,
          .elements = cells * steps,
          .working_set = 8 * (static_cast<double>(kept_fields) * cells + 20 * columns) / team.ranks,
          .phases = {{phases("halo"), &fl::Cost::operations, steps}, {phases("surface"), &fl::Cost::operations, steps}}};
}

}  // namespace ocean_micom

#ifdef FL_JUDGE
#include "judge.hpp"
#include "setup.hpp"
#endif
