// Scalars that flows transport in addition to momentum: turbulence, and fuel.
//
// B. E. Launder, D. B. Spalding, Comp. Meth. Appl. Mech. Eng. 3 (1974) 269; B. F. Magnussen, B. H. Hjertager, Proc. Combust. Inst. 16 (1977) 719.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>

#include "firstlight/workload.hpp"

namespace cfd {

// k and its dissipation; fuel, a share of the mass; the mixture fraction fuel - oxygen / 3.99; the enthalpy over what enters has as heat.
enum Scalar : std::size_t { turbulence, dissipation, fuel, mixture, enthalpy };
inline constexpr std::size_t scalars = 5;
using Scalars = std::array<double, scalars>;
inline constexpr std::array<const char*, scalars> scalar_names{"k", "epsilon", "fuel", "mixture", "enthalpy"};

inline constexpr double c_mu = 0.09, c_1 = 1.44, c_2 = 1.92, burning = 4;
inline constexpr double karman = 0.41, roughness = 9.8, sublayer = 11.53;  // y+ = log(roughness y+) / karman there
inline constexpr Scalars prandtl{1, 1.3, 0.7, 0.7, 0.7};                   // of the eddy viscosity; the molecular ones are 1

// A kg of methane burns as many of oxygen; of air the first share is oxygen, the rest nitrogen. Masses of a mol in g.
inline constexpr double oxygen_needed = 3.99, air_oxygen = 0.232;
inline constexpr double fuel_mol = 16.04, oxygen_mol = 32.00, nitrogen_mol = 28.01, products_mol = 26.68, air_mol = 28.85;

// The mixture fraction of a stream of which this share came in as fuel and the rest as air.
constexpr double mixture_of(double share) { return share - (1 - share) * air_oxygen / oxygen_needed; }

// What of a kg is neither fuel nor oxygen, by fuel and mixture fraction.
template <class Real>
struct Composition {
  Real came_as_fuel, oxygen, products, nitrogen;
  Composition(Real of_fuel, Real of_mixture)
      : came_as_fuel((of_mixture + Real{air_oxygen / oxygen_needed}) / Real{1 + air_oxygen / oxygen_needed}),
        oxygen(Real{oxygen_needed} * (of_fuel - of_mixture)),
        products(Real{1 + oxygen_needed} * (came_as_fuel - of_fuel)),
        nitrogen(Real{1 - air_oxygen} * (1 - came_as_fuel)) {}
};

// Over that of air which enters, at the uniform pressure (a low Mach number). The temperature is the enthalpy without the heat that
// the fuel still has.
template <class Real>
Real density_of(Real of_fuel, Real of_mixture, Real of_enthalpy, Real heat) {
  const Composition has(of_fuel, of_mixture);
  const Real mols =
      of_fuel / Real{fuel_mol} + has.oxygen / Real{oxygen_mol} + has.products / Real{products_mol} + has.nitrogen / Real{nitrogen_mol};
  return 1 / (Real{air_mol} * mols * (of_enthalpy - heat * of_fuel));
}

}  // namespace cfd
