// One-sided: puts between fences, in which all processes take part. What is put into boxes needs a fence a phase, and two sets of
// boxes, because a neighbour can be one exchange ahead. What is put into the halo itself needs the consent of its owner: a fence more.
#include "kernels/window.hpp"

namespace {

struct Exchange {
  halo::SidesWindow line;
  std::uint64_t number = 0;  // of this exchange

  void open(halo::State& s) {
    line.open(s, 2, false);
    MPI_Win_fence(MPI_MODE_NOPRECEDE, line.window());
  }

  void close(halo::State&) {
    MPI_Win_fence(MPI_MODE_NOSUCCEED, line.window());
    line.close();
  }

  void step(halo::State& s, fl::Index) {
    ++number;
    if (s.data != halo::Data::packed) MPI_Win_fence(0, line.window());
    halo::two_packed_phases(s, line.sets[number % 2], [this](const halo::Side& low, const halo::Side& high) {
      line.put(low, high);
      line.put(high, low);
      MPI_Win_fence(0, line.window());
    });
  }
};

}  // namespace

FL_VARIANT(halo, Exchange, .refuse = halo::narrow_in_place)
