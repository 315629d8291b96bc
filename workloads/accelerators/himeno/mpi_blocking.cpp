// All halos first, one dimension after the other as the benchmark does it, then all points.
#include "kernels/mpi_run.hpp"

namespace {

struct Blocking {
  himeno::grid::Exchange<3, himeno::grid::Mpi> halo;

  void open(himeno::State& s) {
    halo.open(s.block, {.reach = himeno::grid::Reach::edges, .order = himeno::grid::Order::by_dimension}, {}, s.p);
  }
  void step(himeno::State& s, fl::Index) {
    for (fl::Index t = 0; t < s.params.sweeps; ++t, std::swap(s.p, s.next)) {
      double sum = 0;
      fl::during(himeno::phases("halo"), [&] { halo(); });
      fl::during(himeno::phases("inner"), [&] { sum = himeno::sweep(s, s.block.cells(), himeno::Vectors<himeno::Store::ordinary>{}); });
      s.gosa = himeno::over_ranks(sum);
    }
  }
};

}  // namespace

FL_VARIANT(himeno, Blocking)
