// One-sided with fences: every message is a put between two fences, in which both ends take part.
#include "kernels/window.hpp"

namespace {

struct RoundTrip {
  pingpong::PairWindow line;

  void open(pingpong::State& s) {
    line.open(s, false);
    MPI_Win_unlock_all(line.window());  // fences open epochs of their own
    s.ends[0].in = line.message();
    pingpong::poison(s);
    fl::barrier();
  }

  void close(pingpong::State&) {
    MPI_Win_lock_all(MPI_MODE_NOCHECK, line.window());
    line.close();
  }

  void put(const pingpong::State& s, const pingpong::End& e) {
    const auto bytes = static_cast<int>(s.bytes);
    MPI_Put(e.out, bytes, MPI_BYTE, line.peer(), line.message_at, bytes, MPI_BYTE, line.window());
  }

  void loop(pingpong::State& s, fl::Index first, fl::Index count) {
    const pingpong::End& e = s.ends[0];
    MPI_Win_fence(MPI_MODE_NOPRECEDE, line.window());
    for (fl::Index i = first; i < first + count; ++i) {
      mutate_inputs(s, i);
      if (e.first) put(s, e);
      MPI_Win_fence(0, line.window());
      if (!e.first) {
        answer(s, e);
        put(s, e);
      }
      MPI_Win_fence(i + 1 < first + count ? 0 : MPI_MODE_NOSUCCEED, line.window());
    }
  }
};

}  // namespace

FL_VARIANT(pingpong, RoundTrip)
