// Parameters and state: what inputs, checks and variants share.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "../extents.hpp"
#include "cases.hpp"

namespace cfd {

enum class Method { sip, red_black, iccg, mgcg };  // in the order of their names below

struct Params : Extents, Setting {
  Index iterations = 0, digits = 6;
  Method pressure = Method::sip;
  Index sweeps = 2, pressure_sweeps = 6, bits = 64;
  double alpha = 0.92, relax = 0.7, relax_pressure = 0.3, central = 1;

  Params() : Extents{.i = 12, .j = 10, .k = 1} {}
  void declare(fl::Fields& fields) {
    fields.choice("case", flow, "cavity|kovasznay|duct|decay|plug|channel|combustor|step",
                  "a lid-driven cavity (k=1: a slice); a wake with a known exact solution; a duct from an inlet to an outlet; "
                  "decaying turbulence; burning fuel; the duct with turbulence; the duct with turbulence and fuel; a channel "
                  "behind a step");
    declare_cells(fields);
    fields.real("reynolds", reynolds, "1", 1e-3, 1e9, "Reynolds number: speed times length, divided by viscosity");
    fields.real("heat", heat, "1", 0, 1000, "heat of combustion per mass, relative to the heat content of the inflow (if fuel burns)");
    fields.integer("iterations", iterations, "iterations", 0, 1 << 20, "iterations of a run; 0: until convergence");
    fields.integer("digits", digits, "digits", 1, 13, "convergence: residuals of 10^-digits, relative to the flow of momentum and mass");
    fields.choice("pressure", pressure, "sip|red_black|iccg|mgcg",
                  "solver of the pressure correction: Stone's method, red-black Gauss-Seidel, or conjugate gradients with "
                  "incomplete Cholesky (requires an outlet) or with a multigrid cycle");
    fields.integer("sweeps", sweeps, "iterations", 1, 1000, "solver iterations for each velocity per flow iteration");
    fields.integer("pressure_sweeps", pressure_sweeps, "iterations", 1, 1000,
                   "solver iterations for the pressure correction per flow iteration");
    fields.real("alpha", alpha, "1", 0, 0.999, "compensated share of the neglected terms in Stone's method");
    fields.real("relax", relax, "1", 0.01, 0.99, "under-relaxation of velocities");
    fields.real("relax_pressure", relax_pressure, "1", 0.01, 1, "under-relaxation of the pressure");
    fields.real("central", central, "1", 0, 1, "share of central differences in convection; the rest is upwind");
    fields.integer("bits", bits, "bit", 32, 64, "width of the numbers: 32 or 64");
    declare_processes(fields);
  }
  // The share of the first residual at which the pressure's solver ends, whatever its sweeps. Conjugate gradients, which sum it up anyway,
  // would come to products too small for a number; without an outlet to a residual of rounding, which no pressure removes.
  double pressure_share() const {
    if (pressure == Method::sip || pressure == Method::red_black) return 0;
    if (bits == 32) return has_outlet() ? 1e-10 : 1e-3;
    return has_outlet() ? 1e-30 : 1e-9;
  }
};

inline constexpr Index most_iterations = 100000;

// What a variant does otherwise than the rest.
struct Traits {
  bool colours_together = false;  // red-black: both in one pass through memory
  bool indirect = false;          // neighbours by their numbers in memory, of 32 bits
  bool mixed = false;             // Stone's factors and corrections in 32 bits
  bool narrow = false;            // all in 32 bits, too, where a run requests it
};

// Sums over all cells of what is left of each equation, as shares of the momentum, the mass and the scalars that flow by.
struct Left {
  Vector momentum{};
  double mass = 0;
  Scalars scalar{};
  double voids = 0;  // cells whose density is not positive, at the beginning of the iteration

  double largest_momentum() const { return *std::max_element(momentum.begin(), momentum.end()); }
  double largest_scalar() const { return *std::max_element(scalar.begin(), scalar.end()); }
  double largest() const { return std::max({largest_momentum(), mass, largest_scalar()}); }
  // A flow of which more is left than this, or no number, diverges; one without a density is none.
  bool sound() const {
    const auto small = [](double left) { return left < 1e12; };
    return voids == 0 && small(mass) && std::all_of(momentum.begin(), momentum.end(), small) &&
           std::all_of(scalar.begin(), scalar.end(), small);
  }
  // From sums to shares; `mass_flow`: what flows by.
  Left share_of(double mass_flow, double speed, const Scalars& reference) const {
    Left shares = *this;
    for (double& each : shares.momentum) each /= mass_flow * speed;
    shares.mass /= mass_flow;
    const Scalars scale = scales(speed);
    for (std::size_t q = 0; q < scalars; ++q)
      if (reference[q] != 0) shares.scalar[q] /= mass_flow * scale[q] * std::fabs(reference[q]);
    return shares;
  }
};

struct Outcome {
  std::vector<Left> history;  // one for each iteration, of what it found

  // To be called at the end of each; whether to go on. A flow that diverges ends at once.
  bool goes_on(const Params& p, const Left& now) {
    history.push_back(now);
    if (!now.sound()) return false;
    const auto taken = static_cast<Index>(history.size());
    if (p.iterations > 0) return taken < p.iterations;
    return now.largest() > std::pow(10.0, -static_cast<double>(p.digits)) && taken < most_iterations;
  }
};

// visit(q) for each scalar that the case has.
template <class Visit>
void each_scalar(const Params& p, Visit visit) {
  for (std::size_t q = 0; q < scalars; ++q)
    if (p.has(q)) visit(q);
}

// A side of the box that a block reaches.
struct Rim {
  std::size_t d = 0;
  Index step = 0;
  grid::Box<3> cells;                // of the block, beside it
  std::vector<Boundary> boundaries;  // of each of them, in memory order
};

// A flow. All fields have one layout: the same element number is the same cell in each.
template <class Real>
struct FlowOf {
  std::array<FieldOf<Real>, 3> velocity, flux;  // flux: through the upper face of a cell along each dimension, mass a time
  FieldOf<Real> pressure;                       // over the density of what enters
  std::array<FieldOf<Real>, scalars> scalar;    // those that the case has
};
template <class Real, class Visit>
void each_field(FlowOf<Real>& flow, const Params& p, Visit visit) {
  for (std::size_t d = 0; d < 3; ++d) visit(flow.velocity[d]), visit(flow.flux[d]);
  visit(flow.pressure);
  each_scalar(p, [&](std::size_t q) { visit(flow.scalar[q]); });
}

// One rank's part.
struct State : FlowOf<double> {
  Params params;
  Traits traits;
  fl::Team team;
  grid::Block<3> block;
  Geometry box;
  std::vector<Rim> rims;
  double speed = 1;    // velocities at the sides and the viscosity are multiplied by it: the same flow, other numbers
  Index upcoming = 0;  // the iteration of the next step
  Outcome outcome;
  std::function<void()> upload, download;  // the flow, where a variant has it in other numbers

  double viscosity() const { return speed / params.reynolds; }
};

}  // namespace cfd
