// Corners of halos come in the first time step and never again.
#include "firstlight/grid/mpi.hpp"
#include "kernels/run.hpp"

namespace {

struct Stale : ocean_nlom::Run<fl::grid::Mpi> {
  std::array<fl::grid::Exchange<3, fl::grid::Mpi>, 3> faces;

  void open(ocean_nlom::State& s) {
    Run::open(s);
    std::size_t n = 0;
    for (auto* y : {&s.now, &s.third, &s.half})
      faces[n++].open(s.block, {.reach = fl::grid::Reach::faces}, fl::grid::Mpi{}, y->u, y->v, y->h);
  }
  void close(ocean_nlom::State& s) {
    Run::close(s);
    for (auto& halo : faces) halo.close();
  }
  void step(ocean_nlom::State& s, fl::Index) {
    time_step(s);
    halos.swap(faces);
    for (fl::Index t = 1; t < s.p.steps; ++t) time_step(s);
    halos.swap(faces);
  }
};

}  // namespace

FL_VARIANT(ocean_nlom, Stale)
