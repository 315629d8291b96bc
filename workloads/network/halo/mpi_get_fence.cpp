// One-sided: gets between fences. After the first fence of a phase the words are there, after the second they have been read.
#include "kernels/window.hpp"

namespace {

struct Exchange {
  halo::SidesWindow line;

  void open(halo::State& s) {
    line.open(s, 1, false);
    MPI_Win_fence(MPI_MODE_NOPRECEDE, line.window());
  }

  void close(halo::State&) {
    MPI_Win_fence(MPI_MODE_NOSUCCEED, line.window());
    line.close();
  }

  void step(halo::State& s, fl::Index) {
    halo::two_packed_phases(s, line.sets[0], [this](const halo::Side& low, const halo::Side& high) {
      MPI_Win_fence(0, line.window());
      line.get(low, high);
      line.get(high, low);
      MPI_Win_fence(0, line.window());
    });
  }
};

}  // namespace

FL_VARIANT(halo, Exchange, .refuse = halo::narrow_in_place)
