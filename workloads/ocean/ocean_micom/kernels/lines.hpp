// What follows from a flow, and from the thickness of its layers, for as long as lines to the north need it: four lines, of so many columns
// that they stay in the second cache.
#pragma once

#include <array>

#include "../bands.hpp"
#include "ocean_micom.hpp"

namespace ocean_micom {

using ocean::Band, ocean::Ring, ocean::Strip;

// Vorticity and divergence.
struct Curved {
  Ring vorticity, spread;
};

// On the way to the layers' next flow.
struct Following : ocean::Lines {
  Curved once, twice;  // of the flow before, and of its lap
  struct {
    Ring u, v;
  } bent;                 // that lap
  Ring under;             // depth of the lower end of each layer, below the surface
  Ring thick_u, thick_v;  // of layers at faces
  Ring above_u, above_v;  // of those above the one that is looked at
  std::array<Ring*, 15> layered() {
    return {&flux_u,          &flux_v,       &potential, &head,   &vorticity, &spread,  &once.vorticity, &once.spread,
            &twice.vorticity, &twice.spread, &bent.u,    &bent.v, &under,     &thick_u, &thick_v};
  }
  std::array<Ring*, 2> flat() { return {&above_u, &above_v}; }
};

// On the way to their next thickness.
struct Carrying {
  Ring under;             // ... before
  Ring flux_u, flux_v;    // upwind
  Ring added_u, added_v;  // what centred fluxes have more
  Ring carried;           // thickness after upwind fluxes
  Ring gain, loss;        // of what would be added to a cell, and taken, what may be
  Ring kept;              // what is left of a cell in any case
  Ring rest_u, rest_v;    // what layers together do not carry of the mean flow
  Ring above_u, above_v;  // what all of them could
  std::array<Ring*, 9> layered() { return {&under, &flux_u, &flux_v, &added_u, &added_v, &carried, &gain, &loss, &kept}; }
  std::array<Ring*, 4> flat() { return {&rest_u, &rest_v, &above_u, &above_v}; }
};

}  // namespace ocean_micom
