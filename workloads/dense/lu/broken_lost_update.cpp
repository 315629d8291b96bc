// One product of one row is left out.
#include "tiles.hpp"

#include "firstlight/variant.hpp"

namespace {

struct Lost {
  static void subtract(const double* a, const double* b, double* c, fl::Index rows, fl::Index deep, fl::Index width, fl::Index ld) {
    lu::OwnProduct::subtract(a, b, c, rows, deep, width, ld);
    c[(rows - 1) * ld] += a[(rows - 1) * ld] * b[0];
  }
};

}  // namespace

FL_VARIANT(lu, (lu::in_turn<lu::Partial, Lost>))
