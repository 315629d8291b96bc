// A window for the one-sided variants. Each rank's part begins with a flag; the message follows.
#pragma once

#include "firstlight/window.hpp"
#include "pingpong.hpp"

namespace pingpong {

class PairWindow {
 public:
  static constexpr MPI_Aint message_at = fl::line_pair;  // the flag has them for itself

  void open(const State& s, bool shared) {
    // One window for all pairs: windows of several communicators of one split share a file name, and with it their memory, in
    // Open MPI 4.1.
    peer_ = s.ends[0].peer;
    memory_.open(message_at + capacity(s), shared);
    *flag() = 0;
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window());
  }

  void close() {
    MPI_Win_unlock_all(window());
    memory_.close();
  }

  MPI_Win window() const { return memory_.handle(); }
  int peer() const { return peer_; }
  std::uint64_t* flag() const { return reinterpret_cast<std::uint64_t*>(memory_.memory()); }
  unsigned char* message() const { return memory_.memory() + message_at; }
  unsigned char* part_of_peer() const { return memory_.part_of(peer_); }

  // Writes the peer's flag; `number` must stay as it is until the next signal.
  void signal(const std::uint64_t* number) const {
    MPI_Put(number, sizeof *number, MPI_BYTE, peer_, 0, sizeof *number, MPI_BYTE, window());
    MPI_Win_flush(peer_, window());
  }

  // Until this rank's own flag contains `number`.
  void await(std::uint64_t number) const {
    fl::await_put(flag(), number);
    MPI_Win_sync(window());
  }

 private:
  fl::Window memory_;
  int peer_ = 0;
};

}  // namespace pingpong
