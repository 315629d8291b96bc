// The same elimination by a library.
#pragma once

#include "firstlight/blas.hpp"
#include "product.hpp"

namespace lu {

struct LibraryProduct {
  void operator()(const Elimination& e) const {
    const auto width = static_cast<int>(e.width), deep = static_cast<int>(e.deep), lda = static_cast<int>(panel_stride);
    FL_CBLAS(dtrsm)
    (fl::blas::row_major, fl::blas::left, fl::blas::lower, fl::blas::as_is, fl::blas::unit, deep, width, 1, e.l, lda, e.b,
     static_cast<int>(e.ldb));
    FL_CBLAS(dgemm)
    (fl::blas::row_major, fl::blas::as_is, fl::blas::as_is, static_cast<int>(e.rows), width, deep, -1, e.a, lda, e.b,
     static_cast<int>(e.ldb), 1, e.c, static_cast<int>(e.ldc));
  }
};

}  // namespace lu
