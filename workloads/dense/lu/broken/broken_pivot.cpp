// The pivot of every 16th column is not looked for.
#include "kernels/tiles.hpp"

#include "firstlight/variant.hpp"

namespace {

struct Missing : lu::Largest {
  fl::Index pick(fl::Index j, const double* column, fl::Index begin, fl::Index end) const {
    return j % 16 == 0 ? begin : lu::largest(column, begin, end);
  }
};

template <class Product>
using Missed = lu::Searched<Missing, Product>;

}  // namespace

using MissedPivot = lu::InTurn<Missed, lu::OwnProduct>;
FL_VARIANT(lu, MissedPivot)
