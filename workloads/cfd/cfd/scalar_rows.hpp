// What an iteration does to a row of cells for scalars: their sources, and what density and eddy viscosity follow from them.
#pragma once

#include "rows.hpp"

namespace cfd::inline FL_ROLE {

inline double eddy_viscosity(double density, double k, double epsilon) { return density * c_mu * k * k / epsilon; }

// Near a wall: B. E. Launder, D. B. Spalding's functions of k half a cell away from it.
inline double friction_speed(double k) { return std::sqrt(std::sqrt(c_mu) * k); }
struct Wall {
  double viscosity, distance;

  // The viscosity over which it holds back the velocity there: by the law of the wall, in its sublayer the molecular one.
  double drag(double k, double density) const {
    const double away = density * friction_speed(k) * distance / viscosity;
    return away > sublayer ? viscosity * karman * away / std::log(roughness * away) : viscosity;
  }
  double dissipation(double k) const {
    const double speed = friction_speed(k);
    return speed * speed * speed / (karman * distance);
  }
};

struct ScalarRows : FlowRows {
  static double density(const Arrays& f, Index at) { return f.density == nullptr ? 1 : f.density[at]; }

  // Density and eddy viscosity of a cell, one of the halo too.
  static void property(const Arrays& f, double heat, Index at) {
    if (f.density != nullptr) f.density[at] = density_of(f.scalar[fuel][at], f.scalar[mixture][at], f.scalar[enthalpy][at], heat);
    f.eddy[at] = eddy_viscosity(density(f, at), f.scalar[turbulence][at], f.scalar[dissipation][at]);
  }

  // Of a row; how many of its densities are not positive.
  static double property_row(const Arrays& f, double heat, Index c, Index n) {
    double voids = 0;
    for (Index at = c; at < c + n; ++at) {
      property(f, heat, at);
      if (!(density(f, at) > 0)) ++voids;
    }
    return voids;
  }

  // What strain makes of k, a volume and time: twice the eddy viscosity times the square of the rate of strain.
  static void production_row(const auto& f, const Vector& spacing, Index c, Index n) {
    for (Index at = c; at < c + n; ++at) {
      double squares = 0;
      const auto slope = [&](std::size_t u, std::size_t d) {
        return (f.velocity[u][f.above(d, at)] - f.velocity[u][f.below(d, at)]) / (2 * spacing[d]);
      };
      for (std::size_t d = 0; d < 3; ++d) {
        const std::size_t e = (d + 1) % 3;
        const double stretch = slope(d, d), shear = slope(d, e) + slope(e, d);
        squares += 2 * stretch * stretch + shear * shear;
      }
      f.production[at] = f.eddy[at] * squares;
    }
  }

  // Of a scalar: what arises in a cell, a volume and time, and what of it falls as the scalar grows, over the scalar.
  struct Source {
    double arises, falls;
  };
  static Source source(const Arrays& f, std::size_t q, Index at) {
    const double frequency = f.scalar[dissipation][at] / f.scalar[turbulence][at], rate = density(f, at) * frequency;
    switch (q) {
      case turbulence:
        return {f.production[at] - rate * f.scalar[turbulence][at], rate};
      case dissipation:
        return {c_1 * frequency * f.production[at] - c_2 * rate * f.scalar[dissipation][at], c_2 * rate};
      case fuel:
        return {-burning * rate * scarcest(f.scalar[fuel][at], f.scalar[mixture][at]), burning * rate};
      default:
        return {0, 0};
    }
  }
  // In kg of fuel: itself, the oxygen for it, half of what is burnt already and gives the heat. Eddies mix them.
  static double scarcest(double of_fuel, double of_mixture) {
    const Composition has(of_fuel, of_mixture);
    return std::max(0.0, std::min({of_fuel, has.oxygen / oxygen_needed, 0.5 * has.products / (1 + oxygen_needed)}));
  }

  // The rest of a scalar's equation: sources and relaxation.
  static void scalar_row(const Arrays& f, std::size_t q, double volume, double relax, Index c, Index n) {
    for (Index at = c; at < c + n; ++at) {
      const Source s = source(f, q, at);
      f.b[at] += volume * s.arises;
      f.a[P][at] = (f.a[P][at] + volume * s.falls) / relax;
      f.correction[at] = 0;
    }
  }

  // A scalar takes its correction. k and epsilon are positive: of what there is a tenth stays, whatever the correction.
  static void corrected_scalar_row(const Arrays& f, std::size_t q, Index c, Index n) {
    double* x = f.scalar[q];
    for (Index at = c; at < c + n; ++at) {
      const double corrected = x[at] + f.correction[at];
      x[at] = q <= dissipation ? std::max(corrected, 0.1 * x[at]) : corrected;
    }
  }
};

}  // namespace cfd::inline FL_ROLE
