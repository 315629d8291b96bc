// The flows: what box they fill, what happens at its sides, what is known of them. Dimensions are numbered as those of the grid: 0 from
// bottom to top, 1 from south to north, 2 from west to east; velocity d points along dimension d. Lengths and speeds are 1 where a
// Reynolds number is defined.
#pragma once

#include "../system.hpp"
#include "scalars.hpp"

namespace cfd {

using Vector = std::array<double, 3>;

enum class Case { cavity, kovasznay, duct, decay, plug, channel, combustor, step };  // in the order of their names below

struct Setting {
  Case flow = Case::cavity;
  double reynolds = 100, heat = 139;

  bool turbulent() const { return flow == Case::decay || flow == Case::channel || flow == Case::combustor; }  // k and epsilon change
  bool reacting() const { return flow == Case::plug || flow == Case::combustor; }  // fuel, mixture fraction, enthalpy and density do
  bool solves(std::size_t scalar) const { return scalar <= dissipation ? turbulent() : reacting(); }
  bool has(std::size_t scalar) const { return scalar <= dissipation ? turbulent() || reacting() : reacting(); }
  Index solved() const { return (turbulent() ? 2 : 0) + (reacting() ? 3 : 0); }
  bool carries() const { return has(turbulence); }
  bool has_outlet() const { return flow != Case::cavity && flow != Case::kovasznay; }
  bool is_known() const { return flow == Case::kovasznay || flow == Case::decay || flow == Case::plug; }  // there is an exact solution
};

enum class Edge {
  wall,    // the velocity is given, and no scalar passes
  inlet,   // all are given: what enters, exact solutions
  slip,    // nothing flows through and nothing drags
  outlet,  // the pressure is 0, the velocity does not change any more, and scalars go on in a straight line
};
struct Boundary {
  Edge edge = Edge::slip;
  Vector velocity{};      // where it is given; the flow's speed is a factor of it
  Scalars scalar{};       // at an inlet; k has the square of that factor, epsilon its cube
  double wall_share = 1;  // of a cell's faces that are walls, of which this may be one: 1 / their number
};

// By which powers of the speed scalars grow.
inline Scalars scales(double speed) { return {speed * speed, speed * speed * speed, 1, 1, 1}; }

// A box of equal cells.
struct Geometry {
  Vector lower{}, length{}, spacing{}, area{};  // area: of the face of a cell with this normal
  double volume = 0;                            // of a cell

  Geometry() = default;
  Geometry(Case flow, const Point& cells) {
    switch (flow) {
      case Case::cavity:  // one layer of cells is a slice of a cavity without ends
        length = {cells[0] == 1 ? 1 / static_cast<double>(cells[2]) : 1, 1, 1};
        break;
      case Case::kovasznay:
        lower = {0, -0.5, -0.5};
        length = {1, 1, 1.5};
        break;
      case Case::step:
        length = {1, 1, 15};
        break;
      case Case::decay:
      case Case::plug:  // adjacent layers of cells are alike
        length = {1, 1, 1};
        break;
      case Case::channel:  // cells are four times as long as they are high, because the influence of the inlet extends far
        length = {1, 1, 4 * static_cast<double>(cells[2]) / static_cast<double>(cells[1])};
        break;
      case Case::duct:
      case Case::combustor:
        length = {1, 1, static_cast<double>(cells[2]) / static_cast<double>(cells[1])};
        break;
    }
    volume = 1;
    for (std::size_t d = 0; d < 3; ++d) volume *= spacing[d] = length[d] / static_cast<double>(cells[d]);
    for (std::size_t d = 0; d < 3; ++d) area[d] = volume / spacing[d];
  }
  // The middle of a cell of the whole grid, in units of length.
  Vector middle(const Point& cell) const {
    Vector x{};
    for (std::size_t d = 0; d < 3; ++d) x[d] = lower[d] + (static_cast<double>(cell[d]) + 0.5) * spacing[d];
    return x;
  }
  // And of its face on the lower (step -1) or upper (1) side along d.
  Vector middle(const Point& cell, std::size_t d, Index step) const {
    Vector x = middle(cell);
    x[d] += 0.5 * static_cast<double>(step) * spacing[d];
    return x;
  }
  double inflow_area() const { return length[0] * length[1]; }
  // How strongly faces couple the cells on either side.
  Coupling coupling() const { return {area[0] / spacing[0], area[1] / spacing[1], area[2] / spacing[2]}; }
};

// The wake of a row of cylinders: L. I. G. Kovasznay, Proc. Camb. Phil. Soc. 44 (1948) 58.
inline Vector kovasznay(double reynolds, const Vector& x) {
  const double lambda = reynolds / 2 - std::sqrt(reynolds * reynolds / 4 + 4 * M_PI * M_PI), grown = std::exp(lambda * x[2]);
  return {0, lambda / (2 * M_PI) * grown * std::sin(2 * M_PI * x[1]), 1 - grown * std::cos(2 * M_PI * x[1])};
}

// Behind a step of half the height: what enters above it, of mean 1, and what becomes of it far behind. D. K. Gartling, Int. J. Num. Meth.
// Fluids 11 (1990) 953.
inline double over_the_step(double y) { return y > 0.5 ? 24 * (y - 0.5) * (1 - y) : 0; }
inline double behind_the_step(double y) { return 3 * y * (1 - y); }

// Where the flow begins along its way: not at rest where that would never end.
inline double start_along(const Setting& of, const Vector& x) {
  if (of.carries()) return 1;  // without viscosity nothing would hold a flow that is still
  return of.flow == Case::step ? behind_the_step(x[1]) : 0;
}

// So little turbulence that it stays in the flow; a decay and a mixture need a time of the order of 1.
inline constexpr double faint = 1e-8;
// Shares of a plug flow: plug_share of what enters and burns came in as fuel, and plug_fuel of it is left. So much has burnt already that
// fuel is the scarcest.
inline constexpr double plug_share = 0.04, plug_fuel = 0.012, plug_frequency = 0.5;

// Eddies of a tenth of the speed and of the height, and of the fifth and a twentieth.
inline constexpr double channel_k = 0.015, channel_epsilon = 0.003, combustor_k = 0.06, combustor_epsilon = 0.048;

// Returns the order of magnitude of the scalars and the values that a run begins near. If all that enters is alike, this is its value.
inline Scalars reference(const Setting& of) {
  const Scalars mixed{0, 0, plug_fuel, mixture_of(plug_share), 1 + of.heat * plug_fuel};
  switch (of.flow) {
    case Case::decay:
      return {faint, faint};
    case Case::plug:
      return {faint, plug_frequency * faint, mixed[fuel], mixed[mixture], mixed[enthalpy]};
    case Case::channel:
      return {channel_k, channel_epsilon};
    case Case::combustor:
      return {combustor_k, combustor_epsilon, mixed[fuel], mixed[mixture], mixed[enthalpy]};
    default:
      return {};
  }
}
// What enters the combustor at this point: rich gas in the middle, burnt gas around it that lights it, then air.
inline Scalars combustor_inlet(const Setting& of, const Vector& x, bool slice) {
  const double off = std::max(slice ? 0 : std::fabs(x[0] - 0.5), std::fabs(x[1] - 0.5));
  const double share = off < 0.125 ? 0.1 : off < 0.25 ? 0.04 : 0, unburnt = off < 0.125 ? share : 0;
  return {combustor_k, combustor_epsilon, unburnt, mixture_of(share), 1 + of.heat * share};
}

// What becomes of it at x, where neither viscosity nor eddies carry anything. k' = -epsilon, epsilon' = -c_2 epsilon^2 / k; fuel burns as
// exp(-4 t epsilon / k), and the gas that it heats moves in the time t: dx = dt / density.
inline Scalars decayed(double x) {
  const double longer = 1 + (c_2 - 1) * x;
  return {faint * std::pow(longer, -1 / (c_2 - 1)), faint * std::pow(longer, -c_2 / (c_2 - 1))};
}
inline Scalars burnt(const Setting& of, double x) {
  Scalars now = reference(of);
  const double first = density_of(now[fuel], now[mixture], now[enthalpy], of.heat);
  const auto slowness = [&](double left) { return density_of(left, now[mixture], now[enthalpy], of.heat) / first; };
  constexpr int steps = 4096;  // Runge and Kutta's, of order 4
  const auto rate = [&](double left) { return -burning * plug_frequency * left * slowness(left); };
  const double h = x / steps;
  double& left = now[fuel];
  for (int n = 0; n < steps; ++n) {
    const double a = rate(left), b = rate(left + h / 2 * a), c = rate(left + h / 2 * b), d = rate(left + h * c);
    left += h / 6 * (a + 2 * b + 2 * c + d);
  }
  return now;
}

// Beyond the face of `cell` on that side, which is one of the box.
inline Boundary boundary(const Setting& of, const Geometry& box, const Point& cells, const Point& cell, std::size_t d, Index step) {
  const bool slice = d == 0 && cells[0] == 1;
  switch (of.flow) {
    case Case::cavity:
      if (slice) return {};
      return {Edge::wall, {0, 0, d == 1 && step > 0 ? 1.0 : 0.0}, {}};
    case Case::kovasznay:
      if (d == 0) return {};
      return {Edge::inlet, kovasznay(of.reynolds, box.middle(cell, d, step)), {}};
    case Case::duct:
    case Case::channel:
    case Case::combustor:
      if (slice) return {};
      if (d != 2) return {Edge::wall, {}, {}};
      if (step > 0) return {Edge::outlet, {}, {}};
      return {Edge::inlet,
              {0, 0, 1},
              of.flow == Case::combustor ? combustor_inlet(of, box.middle(cell, d, step), cells[0] == 1) : reference(of)};
    case Case::step:
      if (slice) return {};
      if (d != 2) return {Edge::wall, {}, {}};
      if (step > 0) return {Edge::outlet, {}, {}};
      return {Edge::inlet, {0, 0, over_the_step(box.middle(cell, d, step)[1])}, {}};
    case Case::decay:
    case Case::plug:
      if (d != 2) return {};
      return step > 0 ? Boundary{Edge::outlet, {}, {}} : Boundary{Edge::inlet, {0, 0, 1}, reference(of)};
  }
  return {};
}

}  // namespace cfd
