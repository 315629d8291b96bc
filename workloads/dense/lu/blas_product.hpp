// The same product by a library.
#pragma once

#include "firstlight/blas.hpp"
#include "product.hpp"

namespace lu::inline FL_ROLE {

struct LibraryProduct {
  void operator()(const double* a, const double* b, Index ldb, double* c, Index ldc, Index rows, Index deep, Index width) const {
    FL_CBLAS(dgemm)
    (fl::blas::row_major, fl::blas::as_is, fl::blas::as_is, static_cast<int>(rows), static_cast<int>(width), static_cast<int>(deep), -1, a,
     static_cast<int>(panel_stride), b, static_cast<int>(ldb), 1, c, static_cast<int>(ldc));
  }
};

}  // namespace lu::inline FL_ROLE
