// What a run left, for the report: Ez of a grid that a picture still shows.
#pragma once

#include "fdtd2d.hpp"

namespace fdtd2d {

inline constexpr Index most_drawn = 256;  // cells along an edge

inline void draw(State& s, fl::Picture& picture) {
  if (s.p.bits != 64 || s.p.n > most_drawn || (s.p.problem != Problem::cavity && s.p.problem != Problem::cpml)) return;
  if (s.download) s.download();
  picture.of("ez", "", s.p.n, s.p.n);
  grid::each_row(s.block.cells(), [&](const grid::Point<2>& p, Index count) {
    const auto [i, j] = s.block.global(p);
    picture.row(i, j, &s.doubles.ez[p], count);
  });
}

}  // namespace fdtd2d
