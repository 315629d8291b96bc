// One-sided: put, flush, put a flag, flush, in one passive epoch; the receiver looks at the flag in its own memory.
// Cheaper than two fences a message, which wait for both ends (mpi_put_fence). The flush between data and flag is what
// orders them: two puts alone may arrive in any order.
#include "kernels/window.hpp"

namespace {

struct RoundTrip {
  pingpong::PairWindow line;
  std::uint64_t number = 0;  // of the message last sent; sent and received messages alternate, so one count serves both

  void open(pingpong::State& s) {
    line.open(s, false);
    s.ends[0].in = line.message();
    pingpong::poison(s);
    fl::barrier();
  }

  void close(pingpong::State&) { line.close(); }

  void send(const pingpong::State& s, const pingpong::End& e) {
    const auto bytes = static_cast<int>(s.bytes);
    if (bytes > 0) {
      MPI_Put(e.out, bytes, MPI_BYTE, line.peer(), line.message_at, bytes, MPI_BYTE, line.window());
      MPI_Win_flush(line.peer(), line.window());
    }
    line.signal(&number);
  }

  void loop(pingpong::State& s, fl::Index first, fl::Index count) {
    MPI_Win_sync(line.window());  // what was stored in the window since the loop before
    const pingpong::End& e = s.ends[0];
    for (fl::Index i = first; i < first + count; ++i) {
      mutate_inputs(s, i);
      ++number;
      if (e.first) send(s, e);
      line.await(number);
      if (e.first) continue;
      answer(s, e);
      send(s, e);
    }
  }
};

}  // namespace

FL_VARIANT(pingpong, RoundTrip)
