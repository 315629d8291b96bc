// Checks the result of every run and reports its values.
#pragma once

#include "../gyres.hpp"
#include "../judged.hpp"
#include "replay.hpp"
#include "setup.hpp"

namespace ocean_micom {

// Rounding: what pushes for all sub-steps of a time step pushes so much further.
inline double roundings(const Params& p) {
  const double further = std::max(1.0, 2 * static_cast<double>(p.substeps) * p.courant);
  return 4 * DBL_EPSILON * (1 + static_cast<double>(p.steps)) * further;
}
inline double allowed_speed(const Params& p) { return roundings(p) * p.speed(); }
inline double allowed_height(const Params& p) { return roundings(p) * p.depth(); }
// Returns the allowed relative change of a layer. What is carried is lost in roundings of single cells alone, which walk at random.
inline double allowed_layer(const Params& p) {
  return 1e-15 * std::max(1.0, 4 * std::sqrt(static_cast<double>(p.steps) / static_cast<double>(p.nx * p.ny)));
}
// Returns the allowed error of the transport: the square of a cell over that of the western boundary layer, which is 1/20 of the basin
// wide.
inline double allowed_gyre(const Params& p) { return 18 / static_cast<double>(p.nx * p.nx); }

inline fl::Check check(State& s, Index last) {
  const Params& p = s.p;
  mutate_inputs(s, last);  // the judge's own words for the length of a time step and for the wind, whatever a variant left there
  ocean::Judged<Params> judged(p);
  grid::each_cell(s.block.cells(), [&](const grid::Point<3>& c) {
    if (s.now.h[c] >= 0) return;
    judged.worst().consider(INFINITY, 1, [&] { return fl::text("a layer is %.3g m thick", s.now.h[c]); });
  });
  const double layer = ocean::layer_change(s);
  judged.worst().consider(layer, allowed_layer(p), [&] { return fl::text("the mass of a layer changed by a fraction of %.3g", layer); });
  if (p.problem == Problem::jet || p.problem == Problem::lake) judged.as_it_began(s);
  if (p.stommel() && known(p)) {
    const double error = ocean::gyre(s).error, allowed = allowed_gyre(p);
    judged.worst().consider(error, allowed, [&] { return fl::text("the error of the gyre's transport is %.3g of the maximum", error); });
  }
  if (replayed(p)) {
    Replay replay(s);
    judged.beside(s, s.block.cells(), replay.run());
  }
  return judged.worst().check(fl::text("all compared values agree; the mass of a layer changed by a fraction of %.3g", layer));
}

inline void observe(State& s, fl::Observations& seen) {
  seen.value("digest", ocean::digest(s));
  seen.value("dt", s.dt);
  seen.value("day_time", ocean::day_time(s.p, seen, phases));
  const ocean::Gyre found = s.p.stommel() ? ocean::gyre(s) : ocean::Gyre{};
  seen.value("gyre_error", found.error);
  seen.value("gyre_transport", found.most);
  seen.value("gyre_at", found.at);
  double vanished = 0, fastest = 0;  // cells that a layer has left
  grid::each_cell(s.block.cells(), [&](const grid::Point<3>& c) {
    vanished += s.wet[{0, c[1], c[2]}] != 0 && s.now.h[c] < nothing_left;
    fastest = std::max({fastest, std::fabs(s.now.u[c]), std::fabs(s.now.v[c])});
  });
  seen.value("vanished", fl::total(vanished));
  seen.value("fastest", fastest);
}

inline void draw(State& s, fl::Picture& picture) { ocean::draw_surface(s, picture); }

}  // namespace ocean_micom
