// A field of all processes, for checks: they may ask for the spinor at any site of the whole lattice. Memory for it is taken on each
// process.
#pragma once

#include "layout.hpp"

namespace lqcd::inline FL_ROLE {

class Gathered {
 public:
  // Collective: of a field in the layout of this process's block.
  Gathered(const double* field, const Layout& layout) : plain_(layout.lattice, 1), grid_(grid_of(layout.lattice)) {
    const Index size = plain_.spinor_size();
    fl::Array<double> mine(size);
    each_site(plain_.lattice.local, [&](const Extents& x) { put_spinor(mine.data(), plain_, x, get_spinor(field, layout, x)); });
    all_ = fl::Array<double>(size * product(grid_.count));
    fl::gather(mine.data(), size, all_.data());
  }

  Spinor operator()(const Extents& global) const {
    Extents position, x;
    for (std::size_t mu = 0; mu < 4; ++mu) {
      position[mu] = global[mu] / plain_.lattice.local[mu];
      x[mu] = global[mu] % plain_.lattice.local[mu];
    }
    return get_spinor(all_.data() + grid_.rank(position) * plain_.spinor_size(), plain_, x);
  }

 private:
  Layout plain_;
  ProcessGrid grid_;
  fl::Array<double> all_;  // block after block
};

}  // namespace lqcd::inline FL_ROLE
