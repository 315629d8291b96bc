// Each process has the projectors see its own block only.
#include "firstlight/variant.hpp"
#include "kernels/processes.hpp"
#include "kernels/run.hpp"

namespace {

struct Apart : rsdft::Processes {
  void over_grid(double*, fl::Index) const {}
};

using Broken = rsdft::Run<rsdft::PlainStencil, rsdft::PlainProducts, Apart>;

}  // namespace

FL_VARIANT(rsdft, Broken)
