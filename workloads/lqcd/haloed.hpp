// A field of this process's block and of the adjacent sites, for checks. Memory is that of the faces.
#pragma once

#include <array>

#include "layout.hpp"

namespace lqcd {

// The sites of a block on its edge in dimension mu, in lexicographic order: which of them x is.
struct Face {
  Extents extents{};  // 1 along mu
  std::size_t mu = 0;

  Face(const Extents& block, std::size_t along) : extents(block), mu(along) { extents[mu] = 1; }
  Index size() const { return product(extents); }
  Index number(Extents x) const {
    x[mu] = 0;
    return lqcd::number(x, extents);
  }
};

// The processes before (0) and behind (1) this one along mu.
inline std::array<int, 2> beside(const Lattice& block, std::size_t mu) {
  const ProcessGrid grid = grid_of(block);
  const Extents here = position_of(block);
  return {grid.neighbour(here, mu, -1), grid.neighbour(here, mu, 1)};
}

class Haloed {
 public:
  // Collective: of a field in the layout of this process's block. Both live as long.
  Haloed(const double* field, const Layout& layout) : field_(field), layout_(layout) {
    for (std::size_t mu = 0; mu < 4; ++mu)
      for (const std::size_t side : {0, 1}) {
        if (!layout.lattice.cut(mu)) continue;
        const Face face(layout.lattice.local, mu);
        fl::Array<double> mine(face.size() * spinor_reals), theirs(mine.size());
        each_site(face.extents, [&](Extents x) {
          x[mu] = side == 1 ? 0 : layout.lattice.local[mu] - 1;
          double* to = mine.data() + face.number(x) * spinor_reals;
          for (const Row& row : get_spinor(field, layout, x))
            for (const Complex& z : row) *to++ = z.re, *to++ = z.im;
        });
        const auto processes = beside(layout.lattice, mu);
        fl::shift(mine.data(), mine.size(), processes[1 - side], processes[side], theirs.data());
        faces_[mu][side] = std::move(theirs);
      }
  }

  // At global coordinates of the block, or one step outside of it.
  Spinor operator()(const Extents& global) const {
    const Lattice& block = layout_.lattice;
    Extents x;
    std::size_t outside = 4, side = 0;
    for (std::size_t mu = 0; mu < 4; ++mu) {
      x[mu] = (global[mu] - block.origin[mu] + block.global[mu]) % block.global[mu];
      if (x[mu] < block.local[mu]) continue;
      outside = mu;
      side = x[mu] == block.local[mu] ? 1 : 0;
    }
    if (outside == 4) return get_spinor(field_, layout_, x);
    const double* from = faces_[outside][side].data() + Face(block.local, outside).number(x) * spinor_reals;
    Spinor psi;
    for (Row& row : psi)
      for (Complex& z : row) z.re = *from++, z.im = *from++;
    return psi;
  }

 private:
  const double* field_;
  const Layout& layout_;
  std::array<std::array<fl::Array<double>, 2>, 4> faces_;  // before the block, behind it
};

}  // namespace lqcd
