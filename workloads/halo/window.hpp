// A window for the one-sided strategies. Each rank's part holds its field and the boxes of its messages, on every rank at the
// same places, so that a rank knows from its own sides where those of a neighbour lie.
#pragma once

#include <cstdio>

#include "firstlight/await.hpp"
#include "sides.hpp"

namespace halo {

class SidesWindow {
 public:
  // Moves the field there; `sets` of boxes follow it (a set for odd and one for even exchanges, where no neighbour waits for consent).
  void open(State& s, Sides* all, int sets, bool shared) {
    bytes_ = memory_bytes(s) + sets * Sides::boxes_bytes(s);  // whole pairs of lines: MPICH 4.0 loses puts into odd parts
    MPI_Info wishes = MPI_INFO_NULL;
    MPI_Info_create(&wishes);
    MPI_Info_set(wishes, "mpi_minimum_memory_alignment", "128");
    if (shared)
      MPI_Win_allocate_shared(bytes_, 1, wishes, MPI_COMM_WORLD, &base_, &window_);
    else
      MPI_Win_allocate(bytes_, 1, wishes, MPI_COMM_WORLD, &base_, &window_);
    MPI_Info_free(&wishes);
    need_unified();
    adopt(s, s.domains[0], base_);
    for (int set = 0; set < sets; ++set) all[set].open(s, base_ + memory_bytes(s) + set * Sides::boxes_bytes(s));
    fl::barrier();  // all flags are 0 before the first is written
  }

  void close() { MPI_Win_free(&window_); }

  MPI_Win window() const { return window_; }

  // A second window on the same memory.
  MPI_Win again() const {
    MPI_Win window = MPI_WIN_NULL;
    MPI_Win_create(base_, bytes_, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    return window;
  }

  // What leaves on one side arrives in what the neighbour knows as its opposite side.
  void put(const Side& side, const Side& opposite) const { put(side, opposite, window_); }
  void put(const Side& side, const Side& opposite, MPI_Win window) const {
    const Message& there = opposite.receive;
    MPI_Put(side.send.data, side.send.count, side.send.type, side.peer, place(there.data), there.count, there.type, window);
  }
  void get(const Side& side, const Side& opposite) const {
    const Message& there = opposite.send;
    MPI_Get(side.receive.data, side.receive.count, side.receive.type, side.peer, place(there.data), there.count, there.type, window_);
  }

  MPI_Aint place(const void* mine) const { return static_cast<const unsigned char*>(mine) - base_; }

  // The same place in a neighbour's part of a shared window.
  unsigned char* in_part_of(int peer, const void* mine) const {
    MPI_Aint bytes = 0;
    int unit = 0;
    unsigned char* theirs = nullptr;
    MPI_Win_shared_query(window_, peer, &bytes, &unit, &theirs);
    return theirs + place(mine);
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
  MPI_Aint bytes_ = 0;
};

}  // namespace halo
