// Wrong: the filter uses half of the kinetic energy that states may have, so the highest grow, too.
#include "firstlight/variant.hpp"
#include "kernels/run.hpp"

namespace {

struct Low : rsdft::PlainStencil {
  static double most(const rsdft::Weights& w) { return 0.5 * PlainStencil::most(w); }
};

using Broken = rsdft::Run<Low, rsdft::PlainProducts>;

}  // namespace

FL_VARIANT(rsdft, Broken)
