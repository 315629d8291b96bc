// What can run, and the state at the start.
#pragma once

#include "inputs.hpp"
#include "replay.hpp"

namespace ocean_micom {

inline std::string refuse(const Params& p, const fl::Team& team) {
  if (auto why = grid::refuse(p.domain(), team.ranks); !why.empty()) return why;
  if (p.stommel() && (p.layers != 1 || p.length != p.width || p.nx != p.ny || p.ny > 1024))
    return "Stommel's gyre needs layers=1 and a square: nx=ny, up to 1024, and length=width";
  if (p.stommel() && (p.wind == 0 || p.drag == 0)) return "Stommel's gyre needs wind and drag";
  if (p.courant > brief_limit) return fl::text("sub-steps are explicit and need courant=%g or less", brief_limit);
  const double turning = p.longest() * std::max(std::fabs(p.coriolis(0)), std::fabs(p.coriolis(p.ny)));
  if (turning > inertial_limit)
    return fl::text("time steps of %.3g s are too long for the rotation; use fewer substeps or a smaller courant", p.longest());
  if (p.layers > 1 && p.longest() * 2 * internal_speed * p.cells_a_metre() > internal_limit)
    return fl::text("time steps of %.3g s are too long for waves between layers; use fewer substeps or a smaller courant", p.longest());
  const double curved = 4 * (1 / (p.dx() * p.dx()) + 1 / (p.dy() * p.dy()));
  if (2 * p.longest() * curved * (viscosity(p) + biharmonic(p) * curved) > 1.5)
    return fl::text("this viscosity needs time steps shorter than %.3g s", p.longest());
  if (known(p) || replayed(p)) return "";
  return fl::text("a check of %lld steps needs a second run that would last too long; use fewer steps, a smaller ocean, or problem=jet",
                  p.steps);
}

inline void init(State& s, const Params& p, const fl::Team& team) {
  s.p = p, s.team = team, s.block = grid::Block<3>(p.domain(), team.ranks, team.rank);
  grid::Domain<3> surface = p.domain();
  surface.extents[0] = 1, surface.processes = s.block.ranks.count;
  s.surface = grid::Block<3>(surface, team.ranks, team.rank);
  ocean::lay_out(s);
  const grid::Point<3> size = s.block.size(), halo = p.domain().halo;
  const auto make = [&](grid::Field<double, 3>* field) { *field = grid::Field<double, 3>(size, halo); };
  for (Flow* flow : {&s.before, &s.next})
    for (auto* field : flow->all()) make(field);
  for (auto* field : {&s.thick_u, &s.thick_v}) {
    make(field);
    fl::poison(field->data(), field->layout().elements);
  }
  for (Plane* plane : s.mean.all()) *plane = Plane({1, size[1], size[2]}, halo);
  if (p.problem == Problem::jet) ocean::balance_jet(s);
  ocean::begin(s);
}

// What is beyond coasts is at rest.
inline void reset(State& s) {
  for (Flow* flow : {&s.now, &s.before, &s.next}) ocean::copy(s.start, *flow);
  for (Plane* plane : s.mean.all()) std::fill_n(plane->data(), plane->layout().elements, 0.0);
}
inline void poison(State& s) {
  for (Flow* flow : {&s.now, &s.before, &s.next}) ocean::poison(*flow);
}

}  // namespace ocean_micom
