// Blocks of indices dealt to parts cyclically, as HPL and ScaLAPACK deal rows and columns to a grid of processes.
#pragma once

#include "firstlight/split.hpp"

namespace lu {

using fl::Index;

struct Deal {
  Index n = 0, block = 1, parts = 1, mine = 0;

  // How many of the indices below g are mine: of mine, the place of g among them.
  constexpr Index before(Index g) const {
    const Index blocks = g / block, turns = blocks / parts, turn = blocks % parts;
    return turns * block + (mine < turn ? block : mine == turn ? g % block : 0);
  }
  constexpr Index size() const { return before(n); }
  constexpr Index at(Index mine_th) const { return (mine_th / block * parts + mine) * block + mine_th % block; }
  constexpr Index owner(Index g) const { return g / block % parts; }
  constexpr bool has(Index g) const { return owner(g) == mine; }
};

}  // namespace lu
