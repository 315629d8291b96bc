// One-sided in one passive epoch: put into the neighbour's box, flush, put its flag, flush. The flush between orders the two. A
// neighbour can be one exchange ahead, not two, for it needs this one's words: two sets of boxes are enough.
#include "window.hpp"

namespace {

struct Exchange {
  halo::SidesWindow line;
  std::uint64_t number = 0;  // of this exchange

  void open(halo::State& s) {
    line.open(s, 2, false);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, line.window());
  }

  void close(halo::State&) {
    MPI_Win_unlock_all(line.window());
    line.close();
  }

  void flush(const halo::Side& low, const halo::Side& high) {
    MPI_Win_flush(low.peer, line.window());
    if (high.peer != low.peer) MPI_Win_flush(high.peer, line.window());
  }

  // Says on one side that the neighbour's box is full.
  void signal(const halo::Side& side, const halo::Side& opposite) {
    MPI_Put(&number, 1, MPI_UINT64_T, side.peer, line.place(opposite.flag()), 1, MPI_UINT64_T, line.window());
  }

  void step(halo::State& s, fl::Index) {
    ++number;
    halo::two_packed_phases(s, line.sets[number % 2], [this](const halo::Side& low, const halo::Side& high) {
      MPI_Win_sync(line.window());
      line.put(low, high);
      line.put(high, low);
      flush(low, high);
      signal(low, high);
      signal(high, low);
      flush(low, high);
      fl::await_put(low.flag(), number);
      fl::await_put(high.flag(), number);
      MPI_Win_sync(line.window());
    });
  }
};

}  // namespace

FL_VARIANT(halo, Exchange, .refuse = halo::packed_only)
