// A window for the one-sided variants. Each rank's part begins with a flag; the message follows.
#pragma once

#include <mpi.h>

#include <cstdio>

#include "firstlight/await.hpp"
#include "pingpong.hpp"

namespace pingpong {

class PairWindow {
 public:
  static constexpr MPI_Aint message_at = 128;  // the flag has two lines for itself: processors fetch lines in pairs

  void open(const State& s, bool shared) {
    // One window for all pairs: windows of several communicators of one split share a file name, and with it their memory, in
    // Open MPI 4.1.
    peer_ = s.ends[0].peer;
    // Whole pairs of lines: the parts of a window lie side by side, and MPICH 4.0 loses puts into parts of an odd number of words.
    const MPI_Aint bytes = message_at + (capacity(s) + message_at - 1) / message_at * message_at;
    MPI_Info wishes = MPI_INFO_NULL;
    MPI_Info_create(&wishes);
    MPI_Info_set(wishes, "mpi_minimum_memory_alignment", "128");
    if (shared)
      MPI_Win_allocate_shared(bytes, 1, wishes, MPI_COMM_WORLD, &base_, &window_);
    else
      MPI_Win_allocate(bytes, 1, wishes, MPI_COMM_WORLD, &base_, &window_);
    MPI_Info_free(&wishes);
    need_unified();
    *flag() = 0;
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
  }

  void close() {
    MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
  }

  MPI_Win window() const { return window_; }
  int peer() const { return peer_; }
  std::uint64_t* flag() const { return reinterpret_cast<std::uint64_t*>(base_); }
  unsigned char* message() const { return base_ + message_at; }

  // Writes the peer's flag; `number` must stay as it is until the next signal.
  void signal(const std::uint64_t* number) const {
    MPI_Put(number, sizeof *number, MPI_BYTE, peer_, 0, sizeof *number, MPI_BYTE, window_);
    MPI_Win_flush(peer_, window_);
  }

  // Until this rank's own flag holds `number`. In the unified memory model a put becomes visible by itself; a library that
  // moves data in software is given its turn now and then.
  void await(std::uint64_t number) const {
    fl::await(flag(), number, [] {
      int found = 0;
      MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    });
    MPI_Win_sync(window_);
  }

 private:
  void need_unified() const {
    int* model = nullptr;
    int found = 0;
    MPI_Win_get_attr(window_, MPI_WIN_MODEL, &model, &found);
    if (found != 0 && *model == MPI_WIN_UNIFIED) return;
    std::fprintf(stderr, "this MPI library has no unified memory model, which this variant needs; choose another with --mpi\n");
    MPI_Abort(MPI_COMM_WORLD, 3);
  }

  MPI_Win window_ = MPI_WIN_NULL;
  unsigned char* base_ = nullptr;
  int peer_ = 0;
};

}  // namespace pingpong
