// The differences' last coefficient has lost its sign.
#include "firstlight/variant.hpp"
#include "kernels/run.hpp"

namespace {

struct Mistaken : rsdft::PlainStencil {
  static void apply(const rsdft::Cells& cells, const rsdft::grid::Box<3>& box, rsdft::Weights w, double trap, const rsdft::Recurrence& r) {
    w.neighbour[w.radius] = -w.neighbour[w.radius];
    PlainStencil::apply(cells, box, w, trap, r);
  }
};

using Broken = rsdft::Run<Mistaken, rsdft::PlainProducts>;

}  // namespace

FL_VARIANT(rsdft, Broken)
