// Blocks of time: several time steps while cells are in the second-level cache. A band of columns is walked row by row; behind row i of the
// first time step follows row i - 1 of the second, i - 2 of the third, ... Each time step the band is a vector further back, so that what it needs on
// its left the band before has brought exactly as far, and what is on its right is untouched. All in place; each number is computed from the
// same numbers as in plain sweeps.
#pragma once

#include "fused.hpp"

namespace fdtd2d {

inline constexpr Index depth = 12;            // time steps
inline constexpr Index band_bytes = 8 << 10;  // of a row: five arrays of depth + 2 rows take 0.6 MB

// The columns in bands of about that width, as many as a multiple of `teams` where there are several.
template <class T>
struct Bands {
  Index count = 1, width = 0, columns = 0;

  Bands(Index columns, Index teams) : columns(columns) {
    constexpr Index lanes = fl::simd::width<T>, most = band_bytes / static_cast<Index>(sizeof(T)), least = depth * lanes;
    const Index wanted =
        std::clamp<Index>((columns + most * teams - 1) / (most * teams) * teams, 1, std::max<Index>(columns / (2 * least), 1));
    width = (columns + wanted * lanes - 1) / (wanted * lanes) * lanes;
    count = (columns + width - 1) / width;
  }
  // Returns the span of band b, `back` time steps after the first step of a block.
  Span at(Index b, Index back) const {
    const Index shift = back * fl::simd::width<T>;
    return {b == 0 ? 0 : b * width - shift, b == count - 1 ? columns : (b + 1) * width - shift};
  }
};

// One of the waves 0 to rows + steps - 1: a row of each of the time steps t to t + steps - 1.
template <class T>
void wave(const Job<T>& job, const Bands<T>& bands, Index band, Index number, Index t, Index steps) {
  for (Index back = std::max<Index>(0, number - job.rows); back < steps && back <= number; ++back)
    advance_row(job, 0, number - back, bands.at(band, back), t + back);
}

inline std::string refuse_torus(const Params& p) {
  return p.problem == Problem::periodic ? "temporal blocking requires non-periodic boundaries in both dimensions; choose another problem"
                                        : "";
}

}  // namespace fdtd2d
