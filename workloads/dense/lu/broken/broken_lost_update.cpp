// One product of one row is left out.
#include "kernels/tiles.hpp"

#include "firstlight/variant.hpp"

namespace {

struct Lost : lu::OwnProduct {
  void operator()(const lu::Elimination& e) {
    OwnProduct::operator()(e);
    if (e.rows > 0) e.c[(e.rows - 1) * e.ldc] += e.a[(e.rows - 1) * lu::panel_stride] * e.b[0];
  }
};

}  // namespace

using LostUpdate = lu::InTurn<lu::Partial, Lost>;
FL_VARIANT(lu, LostUpdate)
