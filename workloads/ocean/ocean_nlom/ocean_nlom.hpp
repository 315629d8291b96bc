// ocean_nlom: an ocean of layers of constant density (see sea.hpp) whose waves are explicit, or implicit in flat rectangles; R3 ran it as
// NLOM.
//
// A. Wicker and W. Skamarock's Runge-Kutta scheme (Mon. Wea. Rev. 130 (2002) 2088): y + dt L(y + dt/2 L(y + dt/3 L(y))), with drag of the
// bottom layer alone. Or leapfrog steps with Asselin's filter in which all gravity waves are advanced implicitly (semi.hpp).
// A step of the harness is a whole run of `steps` time steps.
#pragma once

#include "../sea.hpp"
#include "firstlight/alltoall.hpp"

namespace ocean_nlom {

namespace grid = fl::grid;
using fl::Index;
using ocean::Flow;
using ocean::Form;
using ocean::gravity;
using ocean::Slip;

enum class Problem { waves, jet, basin, stommel, rectangle, seiche, geostrophic, munk, atlantic };
enum class Time { explicitly, semi };  // semi: gravity waves implicit
enum class Solver { transform, cg };   // of what is implicit

inline constexpr Index most_layers = 5;
inline constexpr std::array<double, most_layers> thickness{200, 300, 500, 1000, 3000};     // m, of five layers at rest
inline constexpr std::array<double, most_layers> weight{gravity, .015, .010, .006, .004};  // m/s^2, of each layer's upper surface
inline constexpr double spun_up = 1.5e7;                                                   // s, fifteen times 1 / r
inline constexpr double half_waves = 8;                                                    // of the seiche, along the basin
inline constexpr Index most_entries = 1000;                                                // of a diary
inline constexpr double explicit_limit = 0.86, inertial_limit = 0.9;
inline constexpr Index most_iterations = 1000;  // of a mode in a time step

struct Params : ocean::Extent {
  Problem problem = Problem::basin;
  Time time = Time::explicitly;
  Solver solver = Solver::transform;
  Form form = Form::energy;
  Slip slip = Slip::free;
  fl::alltoall::Way transpose = fl::alltoall::Way::alltoall;
  Index layers = 5, steps = 4, strip = 512, restart = 0, diary = 0;
  double courant = 0.6, wind = 0.1, drag = 1e-6, viscosity = 100, biharmonic = 0, filter = 0.05, tolerance = 2e-17;
  void declare(fl::Fields& fields) {
    fields.choice("problem", problem, "waves|jet|basin|stommel|rectangle|seiche|geostrophic|munk|atlantic",
                  "waves without friction, periodic; a balanced jet between walls; a basin with islands and a ridge; Stommel's "
                  "gyre; a flat rectangle; a standing wave in a rectangle; a geostrophic flow in a rectangle; Munk's gyre; a "
                  "basin like the North Atlantic");
    fields.choice("time", time, "explicit|semi", "how gravity waves are advanced: explicitly, or implicitly");
    fields.choice("solver", solver, "transform|cg",
                  "solver for implicit waves: cosine transforms for a flat rectangle; conjugate gradients with multigrid for any basin");
    fields.choice("form", form, "energy|enstrophy", "conserved quantity of the vorticity term");
    fields.choice("slip", slip, "free|none", "slip of the flow along coasts");
    declare_cells(fields);
    fields.integer("layers", layers, "layers", 1, most_layers, "number of layers, 5000 m in total; a gyre has one of 1000 m");
    fields.integer("steps", steps, "time steps", 1, 1 << 24, "time steps of a run");
    declare_processes(fields);
    fields.integer("strip", strip, "cells", 8, 1 << 16,
                   "approximate cells of a process's lines that are advanced together (and stored together for explicit waves)");
    fields.choice("transpose", transpose, fl::alltoall::ways, fl::alltoall::ways_help);
    fields.integer("restart", restart, "time steps", 0, 1 << 24, "interval after which the run is saved, discarded and restored; 0: never");
    fields.integer("diary", diary, "time steps", 0, 1 << 24, "interval at which mass, energy and enstrophy are recorded; 0: never");
    fields.real("courant", courant, "1", 1e-3, 40, "Courant number of the fastest wave in a time step");
    fields.real("wind", wind, "N/m^2", 0, 1, "wind stress at the northern end");
    fields.real("drag", drag, "1/s", 0, 1e-3, "bottom drag");
    fields.real("viscosity", viscosity, "m^2/s", 0, 1e6, "viscosity of the basin, the rectangle and Munk's gyre");
    fields.real("biharmonic", biharmonic, "m^4/s", 0, 1e16, "biharmonic viscosity of the basin and the rectangle");
    fields.real("filter", filter, "1", 0, ocean::most_filtered, "Asselin filter of the leapfrog steps (time=semi)");
    fields.real("tolerance", tolerance, "1", 1e-18, 1e-6, "residual of solver=cg, relative to the pressure at the full depth");
  }
  bool closed() const { return problem != Problem::waves && problem != Problem::jet; }
  bool driven() const { return coasts() || problem == Problem::rectangle || gyre(); }
  bool coasts() const { return problem == Problem::basin || problem == Problem::atlantic; }  // and a ridge
  bool stommel() const { return problem == Problem::stommel; }
  bool gyre() const { return stommel() || problem == Problem::munk; }
  bool linear() const { return problem == Problem::seiche || problem == Problem::geostrophic; }  // about layers at rest
  bool bounded() const { return false; }  // what vorticity turns: layers do not vanish
  bool flat_rectangle() const { return closed() && !coasts(); }
  bool iterates() const { return time == Time::semi && solver == Solver::cg; }
  Index columns() const { return time == Time::explicitly ? strip : 0; }
  double beta() const { return driven() ? 2e-11 : 0; }
  // Returns the parameter at the corners on line j of the whole domain.
  double coriolis(Index j) const { return problem == Problem::seiche ? 0 : 1e-4 + beta() * (static_cast<double>(j) * dy() - width / 2); }
  double rest(Index k) const {
    if (gyre()) return ocean::gyre_depth;
    double below = 5000;
    for (Index i = 0; i < k; ++i) below -= thickness[static_cast<std::size_t>(i)];
    return k == layers - 1 ? below : thickness[static_cast<std::size_t>(k)];
  }
  double reduced(Index k) const { return weight[static_cast<std::size_t>(k)]; }
  double depth() const { return gyre() ? ocean::gyre_depth : 5000; }
  double speed() const { return 1.01 * std::sqrt(gravity * depth()); }  // of the fastest wave, and a little
  double longest() const { return courant / (speed() * std::hypot(1 / dx(), 1 / dy())); }
  grid::Domain<3> domain() const {
    return {.extents = {layers, ny, nx},
            .periodic = {false, problem == Problem::waves, !closed()},
            .processes = {1, py, px},
            .halo = {0, 2, 2}};
  }
};

struct State : ocean::Sea<Params> {
  Flow third, half;                             // stages of a time step; semi: before and next
  Flow bent;                                    // lap of a flow, where its own lap is needed; no thickness
  std::vector<double> mass, energy, enstrophy;  // of own cells, every `diary` time steps and at the end
  std::array<double, most_layers> squared{};    // speeds of the vertical modes, squared, as a semi-implicit run took them
  std::array<Index, most_layers> iterations{};  // of conjugate gradients, of each mode in all time steps
};

inline constexpr fl::Phases phases{"halo", "diagnose", "advance", "transform", "transpose", "columns", "solver", "restart", "diary"};
inline constexpr fl::About about{
    .title = "Layered ocean",
    .cost =
        "Explicit: 264 flop (energy form) and 192 bytes per cell, layer and time step; each stage reads the current and the previous "
        "flow and writes the next one. Semi-implicit: 165 + 4 layers + 5 log2(nx) flop and 360 bytes. Biharmonic viscosity adds 48 "
        "flop and 176 bytes per stage or step. Iterations are not counted.",
    .verified =
        "Every cell, or for large grids boxes at the corners of each block and at random places, compared with a run of the judge's "
        "own loops. Mass, and what the frictionless forms conserve. A balanced jet and a geostrophic flow must not change; a seiche "
        "and Stommel's gyre have known solutions. Implicit waves: small grids are compared with elimination without modes, other "
        "grids by the residual of the last step; the speeds of the modes.",
    .tolerance =
        "4 eps per time step of the speed of the fastest wave and of the depth, if implicit times the Courant number and layers. "
        "Mass: 1e-15 in 10000 steps. Transport of the gyre: 18 / cells^2.",
    .phases = phases,
};
inline constexpr fl::Metric metrics[] = {
    {"update_rate", "Mcell/s", "elements", "rate", 1e-6, "higher"},  // cells of a layer and time steps
    {"step_time", "ms", "operations", "time", 1e3, "lower"},
    {"halo_time", "us", "operations", "time", 1e6, "lower", phases("halo")},            // a time step
    {"transpose_time", "us", "operations", "time", 1e6, "lower", phases("transpose")},  // a time step
    {"solver_time", "ms", "operations", "time", 1e3, "lower", phases("solver")},        // a time step; solver=cg
    {"day_time", "s", "day_time", "value", 1, "lower"},                                 // wall time of a model day
    {"iterations", "1", "iterations", "value", 1, "lower"},                             // of all modes, a time step
    {"gyre_error", "1", "gyre_error", "value", 1, "lower"},
    {"digest", "1", "digest", "value", 1, "lower"},
};

inline double drag(const Params& p) { return p.driven() && p.problem != Problem::munk ? p.drag : 0; }
inline double viscosity(const Params& p) { return p.driven() && p.problem != Problem::stommel ? p.viscosity : 0; }

inline double biharmonic(const Params& p) { return p.driven() && !p.gyre() ? p.biharmonic : 0; }

// Counted by hand, a cell, layer and time step. Transforms as 5 n log2 n for two lines of n, as is usual, for any library.
inline double flops(const Params& p) {
  const double bent = biharmonic(p) > 0 ? 48 : 0;
  if (p.time == Time::explicitly) return 264 + 3 * bent;
  const double modes = 4 * static_cast<double>(p.layers);
  return 165 + bent + modes + (p.iterates() ? 0 : 5 * std::log2(static_cast<double>(p.nx)));
}
inline double bytes(const Params& p) {
  const double bent = biharmonic(p) > 0 ? 176 : 0;
  return p.time == Time::explicitly ? 192 + 3 * bent : 360 + bent;
}

inline fl::Cost cost(const Params& p, const fl::Team& team) {
  const auto steps = static_cast<double>(p.steps), cells = static_cast<double>(p.nx * p.ny * p.layers);
  fl::Cost all{.flops = flops(p) * cells * steps,
               .bytes = bytes(p) * cells * steps,
               .operations = steps,
               .elements = cells * steps,
               .working_set = 8 * ((p.time == Time::semi ? 14 : 15) + (biharmonic(p) > 0 ? 2 : 0)) * cells / team.ranks,
               .phases = {{phases("halo"), &fl::Cost::operations, steps}}};
  if (p.time == Time::semi) all.phases.push_back({p.iterates() ? phases("solver") : phases("transpose"), &fl::Cost::operations, steps});
  return all;
}

}  // namespace ocean_nlom

#ifdef FL_JUDGE
#include "judge.hpp"
#include "setup.hpp"
#endif
