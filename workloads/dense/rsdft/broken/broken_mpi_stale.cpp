// Halos arrive with every second product only.
#include "firstlight/variant.hpp"
#include "kernels/processes.hpp"
#include "kernels/run.hpp"

namespace {

struct Stale : fl::grid::Exchange<3, fl::grid::Mpi> {
  int exchanges = 0;
  void start(fl::grid::Alone team) {
    if (exchanges % 2 == 0) Exchange::start(team);
  }
  void finish(fl::grid::Alone team) {
    if (exchanges++ % 2 == 0) Exchange::finish(team);
  }
};

using Broken = rsdft::Run<rsdft::PlainStencil, rsdft::PlainProducts, rsdft::Processes, fl::grid::Alone, Stale>;

}  // namespace

FL_VARIANT(rsdft, Broken)
