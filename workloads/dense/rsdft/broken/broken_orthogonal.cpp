// What a pack of states has of those before it is not taken off.
#include "firstlight/variant.hpp"
#include "kernels/run.hpp"

namespace {

struct Careless : rsdft::PlainProducts {
  static void outer(fl::Index rows, fl::Index m, fl::Index n, double alpha, rsdft::Columns<const double> a, rsdft::Columns<const double> b,
                    rsdft::Columns<double> c) {
    if (alpha > 0) PlainProducts::outer(rows, m, n, alpha, a, b, c);
  }
};

using Broken = rsdft::Run<rsdft::PlainStencil, Careless>;

}  // namespace

FL_VARIANT(rsdft, Broken)
