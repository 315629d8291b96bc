// What an iteration does to a row of cells for scalars: their sources, and what density and eddy viscosity follow from them.
#pragma once

#include "rows.hpp"

namespace cfd {

template <class Real>
Real eddy_viscosity(Real density, Real k, Real epsilon) {
  return density * Real{c_mu} * k * k / epsilon;
}

// Near a wall: B. E. Launder, D. B. Spalding's functions of k half a cell away from it.
inline double friction_speed(double k) { return std::sqrt(std::sqrt(c_mu) * k); }
struct Wall {
  double viscosity, distance;

  // The viscosity over which it slows the velocity there: by the law of the wall, in its sublayer the molecular one.
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
  template <class Real>
  static Real density(const ArraysOf<Real>& f, Index at) {
    return f.density == nullptr ? 1 : f.density[at];
  }

  // Density and eddy viscosity of a cell, one of the halo too.
  template <class Real>
  static void property(const ArraysOf<Real>& f, double heat, Index at) {
    const auto rounded_heat = static_cast<Real>(heat);
    if (f.density != nullptr) f.density[at] = density_of(f.scalar[fuel][at], f.scalar[mixture][at], f.scalar[enthalpy][at], rounded_heat);
    f.eddy[at] = eddy_viscosity(density(f, at), f.scalar[turbulence][at], f.scalar[dissipation][at]);
  }

  // Sets the properties of a row. Returns how many of its densities are not positive.
  static double property_row(const auto& f, double heat, Index c, Index n) {
    double voids = 0;
    for (Index at = c; at < c + n; ++at) {
      property(f, heat, at);
      if (!(density(f, at) > 0)) ++voids;
    }
    return voids;
  }

  // What strain makes of k, a volume and time: twice the eddy viscosity times the square of the rate of strain.
  static void production_row(const auto& f, const Vector& spacing, Index c, Index n) {
    using Real = NumberOf<decltype(f)>;
    const auto twice = rounded<Real>({2 * spacing[0], 2 * spacing[1], 2 * spacing[2]});
    for (Index at = c; at < c + n; ++at) {
      Real squares = 0;
      const auto slope = [&](std::size_t u, std::size_t d) {
        return (f.velocity[u][f.above(d, at)] - f.velocity[u][f.below(d, at)]) / twice[d];
      };
      for (std::size_t d = 0; d < 3; ++d) {
        const std::size_t e = (d + 1) % 3;
        const Real stretch = slope(d, d), shear = slope(d, e) + slope(e, d);
        squares += 2 * stretch * stretch + shear * shear;
      }
      f.production[at] = f.eddy[at] * squares;
    }
  }

  // The source of a scalar: what arises per cell, volume and time, and the part of it that falls as the scalar grows, over the scalar.
  template <class Real>
  struct Source {
    Real arises, falls;
  };
  template <class Real>
  static Source<Real> source(const ArraysOf<Real>& f, std::size_t q, Index at) {
    const Real frequency = f.scalar[dissipation][at] / f.scalar[turbulence][at], rate = density(f, at) * frequency;
    switch (q) {
      case turbulence:
        return {f.production[at] - rate * f.scalar[turbulence][at], rate};
      case dissipation:
        return {Real{c_1} * frequency * f.production[at] - Real{c_2} * rate * f.scalar[dissipation][at], Real{c_2} * rate};
      case fuel:
        return {-Real{burning} * rate * scarcest(f.scalar[fuel][at], f.scalar[mixture][at]), Real{burning} * rate};
      default:
        return {0, 0};
    }
  }
  // In kg of fuel: itself, the oxygen for it, half of the burnt part, which releases the heat. Eddies mix them.
  template <class Real>
  static Real scarcest(Real of_fuel, Real of_mixture) {
    const Composition has(of_fuel, of_mixture);
    return std::max(Real{0}, std::min({of_fuel, has.oxygen / Real{oxygen_needed}, has.products / 2 / Real{1 + oxygen_needed}}));
  }

  // The rest of a scalar's equation: sources and relaxation.
  static void scalar_row(const auto& f, std::size_t q, NumberOf<decltype(f)> volume, NumberOf<decltype(f)> relax, Index c, Index n) {
    for (Index at = c; at < c + n; ++at) {
      const auto s = source(f, q, at);
      f.b[at] += volume * s.arises;
      f.a[P][at] = (f.a[P][at] + volume * s.falls) / relax;
      f.correction[at] = 0;
    }
  }

  // A scalar is corrected. k and epsilon are positive: of what there is a tenth stays, whatever the correction.
  template <class Real>
  static void corrected_scalar_row(const ArraysOf<Real>& f, std::size_t q, Index c, Index n) {
    Real* x = f.scalar[q];
    for (Index at = c; at < c + n; ++at) {
      const Real corrected = x[at] + f.correction[at];
      x[at] = q <= dissipation ? std::max(corrected, x[at] / 10) : corrected;
    }
  }
};

}  // namespace cfd
