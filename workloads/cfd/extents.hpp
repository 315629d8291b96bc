// The cells of a case and the processes that share them, as parameters: R2's two sizes, or any.
#pragma once

#include "system.hpp"

namespace cfd {

enum class Size { A, B, free };  // in the order of their names below

struct Extents {
  Size size = Size::free;
  Index i = 1, j = 1, k = 1;
  Point processes{};

  void declare_cells(fl::Fields& fields) {
    fields.choice("size", size, "A|B|free", "A: 100 x 56 x 56 cells, B: 200 x 112 x 112; free: i, j and k");
    fields.integer("i", i, "cells", 1, 1 << 14, "cells from west to east, contiguous in memory (if size=free)");
    fields.integer("j", j, "cells", 1, 1 << 14, "cells from south to north");
    fields.integer("k", k, "cells", 1, 1 << 14, "cells from bottom to top");
  }
  void declare_processes(fl::Fields& fields) {
    fields.integer("pi", processes[2], "processes", 0, 1 << 20, "processes along i; 0: automatic");
    fields.integer("pj", processes[1], "processes", 0, 1 << 20, "processes along j; 0: automatic");
    fields.integer("pk", processes[0], "processes", 0, 1 << 20, "processes along k; 0: automatic");
  }
  Point cells() const {
    if (size == Size::free) return {k, j, i};
    return size == Size::A ? Point{56, 56, 100} : Point{112, 112, 200};
  }
  // Faces across the rows are gathered cell by cell, and rows get short: a cut there is as slow as three times the cells elsewhere.
  grid::Domain<3> domain() const { return {.extents = cells(), .processes = processes, .halo = {1, 1, 1}, .face_costs = {1, 1, 3}}; }
};

}  // namespace cfd
