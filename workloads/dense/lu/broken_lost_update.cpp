// One product of one row is left out.
#include "tiles.hpp"

#include "firstlight/variant.hpp"

namespace {

struct Lost : lu::OwnProduct {
  void operator()(const double* a, const double* b, fl::Index ldb, double* c, fl::Index ldc, fl::Index rows, fl::Index deep,
                  fl::Index width) {
    OwnProduct::operator()(a, b, ldb, c, ldc, rows, deep, width);
    if (rows > 0) c[(rows - 1) * ldc] += a[(rows - 1) * lu::panel_stride] * b[0];
  }
};

}  // namespace

using LostUpdate = lu::InTurn<lu::Partial, Lost>;
FL_VARIANT(lu, LostUpdate)
