// What can run, and the state at the start.
#pragma once

#include "implicit.hpp"
#include "inputs.hpp"
#include "replay.hpp"

namespace ocean_nlom {

inline std::string refuse(const Params& p, const fl::Team& team) {
  if (auto why = grid::refuse(p.domain(), team.ranks); !why.empty()) return why;
  if (p.gyre() && (p.layers != 1 || p.length != p.width || p.nx != p.ny || p.ny > 1024))
    return "a gyre needs layers=1 and a square: nx=ny, up to 1024, and length=width";
  if (p.problem == Problem::seiche && (p.layers != 1 || static_cast<double>(p.nx) < 2 * half_waves))
    return fl::text("the seiche needs layers=1 and nx=%g or more", 2 * half_waves);
  if (p.gyre() && (p.wind == 0 || (p.problem == Problem::stommel && p.drag == 0))) return "a gyre needs wind, and Stommel's drag, too";
  if (p.problem == Problem::munk && (p.slip != Slip::free || std::cbrt(p.viscosity / p.beta()) < p.dx()))
    return fl::text("Munk's gyre needs slip=free and a viscosity of %g m^2/s or more: a boundary layer of one cell",
                    p.beta() * std::pow(p.dx(), 3));
  if (p.diary > 0 && p.steps / p.diary > most_entries)
    return fl::text("a diary of %lld entries is too long; the limit is %lld", p.steps / p.diary, most_entries);
  const bool semi = p.time == Time::semi;
  if (semi && !p.closed())
    return "time=semi needs a closed basin: problem=basin, atlantic, rectangle, stommel, munk, seiche or geostrophic";
  if (semi && !p.iterates() && !p.flat_rectangle())
    return "solver=transform needs a flat rectangle: problem=rectangle, stommel, munk, seiche or geostrophic; use solver=cg";
  if (!semi && p.courant > explicit_limit)
    return fl::text("time=explicit needs courant=%g or less: gravity waves are advanced step by step", explicit_limit);
  if (semi && p.longest() * std::max(std::fabs(p.coriolis(0)), std::fabs(p.coriolis(p.ny))) > inertial_limit)
    return fl::text("time steps of %.3g s are too long for the rotation, which is explicit; use a smaller courant", p.longest());
  const double curved = 4 * (1 / (p.dx() * p.dx()) + 1 / (p.dy() * p.dy()));
  if ((semi ? 2 : 1) * curved * (viscosity(p) + biharmonic(p) * curved) * p.longest() > 1.5)
    return fl::text("this viscosity needs time steps shorter than %.3g s", p.longest());
  if (semi || known(p) || replayed(p, team.ranks).cells > 0) return "";
  return fl::text("a check of %lld steps needs a second run that would last too long; use fewer steps, a smaller ocean, or problem=jet",
                  p.steps);
}

inline void init(State& s, const Params& p, const fl::Team& team) {
  s.p = p, s.team = team, s.block = grid::Block<3>(p.domain(), team.ranks, team.rank);
  ocean::lay_out(s);
  for (Flow* y : {&s.third, &s.half})
    for (auto* field : y->all()) *field = grid::Field<double, 3>(s.block.size(), p.domain().halo, grid::cache_line, p.columns());
  if (biharmonic(p) > 0)
    for (auto* field : {&s.bent.u, &s.bent.v}) {
      *field = grid::Field<double, 3>(s.block.size(), p.domain().halo);
      fl::poison(field->data(), field->layout().elements);
    }
  if (p.problem == Problem::jet) ocean::balance_jet(s);
  ocean::begin(s);
}

inline void reset(State& s) {
  for (Flow* y : {&s.now, &s.third, &s.half}) ocean::copy(s.start, *y);
}
inline void poison(State& s) {
  for (Flow* y : {&s.now, &s.third, &s.half}) ocean::poison(*y);
}

}  // namespace ocean_nlom
