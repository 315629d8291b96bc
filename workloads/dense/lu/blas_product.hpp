// The same product by a library.
#pragma once

#include "firstlight/blas.hpp"
#include "tiles.hpp"

namespace lu::inline FL_ROLE {

struct LibraryProduct {
  static void subtract(const double* a, const double* b, double* c, Index rows, Index deep, Index width, Index ld) {
    const int stride = static_cast<int>(ld);
    FL_CBLAS(dgemm)
    (fl::blas::row_major, fl::blas::as_is, fl::blas::as_is, static_cast<int>(rows), static_cast<int>(width), static_cast<int>(deep), -1, a,
     stride, b, stride, 1, c, stride);
  }
};

}  // namespace lu::inline FL_ROLE
