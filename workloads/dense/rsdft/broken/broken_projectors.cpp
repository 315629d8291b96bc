// The non-local terms are lost.
#include "firstlight/variant.hpp"
#include "kernels/run.hpp"

namespace {

struct Broken : rsdft::Run<rsdft::PlainStencil, rsdft::PlainProducts> {
  void step(rsdft::State& s, fl::Index iteration) {
    const double kept = std::exchange(s.p.projectors, 0);
    Run::step(s, iteration);
    s.p.projectors = kept;
  }
};

}  // namespace

FL_VARIANT(rsdft, Broken)
