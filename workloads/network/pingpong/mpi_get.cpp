// One-sided: the sender puts a flag, the receiver gets the message from the sender's window and flushes.
#include "kernels/window.hpp"

namespace {

struct RoundTrip {
  pingpong::PairWindow line;
  std::uint64_t number = 0;

  void open(pingpong::State& s) {
    line.open(s, false);
    pingpong::End& e = s.ends[0];
    e.out = line.message();
    pingpong::fill(s, e);
    fl::barrier();
  }

  void close(pingpong::State&) { line.close(); }

  void send() {
    MPI_Win_sync(line.window());  // the message was stored by plain stores
    line.signal(&number);
  }

  void receive(const pingpong::State& s, const pingpong::End& e) {
    line.await(number);
    const auto bytes = static_cast<int>(s.bytes);
    if (bytes == 0) return;
    MPI_Get(e.in, bytes, MPI_BYTE, line.peer(), line.message_at, bytes, MPI_BYTE, line.window());
    MPI_Win_flush(line.peer(), line.window());
  }

  void step(pingpong::State& s, fl::Index) {
    const pingpong::End& e = s.ends[0];
    ++number;
    if (e.first) send();
    receive(s, e);
    if (e.first) return;
    answer(s, e);
    send();
  }
};

}  // namespace

FL_VARIANT(pingpong, RoundTrip)
