// A window for the one-sided strategies. Each rank's part contains its field and the boxes of its messages, on every rank at the
// same places, so that a rank can compute those of a neighbour from its own.
#pragma once

#include "firstlight/window.hpp"
#include "sides.hpp"

namespace halo {

class SidesWindow {
 public:
  // One set of boxes; or one for odd and one for even exchanges, where no neighbour waits for consent.
  std::array<Sides, 2> sets;

  // Moves the field there; `count` sets of boxes follow it.
  void open(State& s, int count, bool shared) {
    memory_.open(memory_bytes(s) + count * Sides::boxes_bytes(s), shared);
    adopt(s, s.domains[0], memory_.memory());
    for (int set = 0; set < count; ++set)
      sets[static_cast<std::size_t>(set)].open(s, memory_.memory() + memory_bytes(s) + set * Sides::boxes_bytes(s));
    fl::barrier();  // all flags are 0 before the first is written
  }

  void close() {
    for (Sides& set : sets) set.close();
    memory_.close();
  }

  MPI_Win window() const { return memory_.handle(); }

  // A second window on the same memory.
  MPI_Win again() const { return memory_.again(); }

  // What leaves on one side arrives at the neighbour's opposite side.
  void put(const Side& side, const Side& opposite) const { put(side, opposite, window()); }
  void put(const Side& side, const Side& opposite, MPI_Win window) const {
    const Message& there = opposite.receive;
    MPI_Put(side.send.data, side.send.count, side.send.type, side.peer, place(there.data), there.count, there.type, window);
  }
  void get(const Side& side, const Side& opposite) const {
    const Message& there = opposite.send;
    MPI_Get(side.receive.data, side.receive.count, side.receive.type, side.peer, place(there.data), there.count, there.type, window());
  }

  MPI_Aint place(const void* mine) const { return static_cast<const unsigned char*>(mine) - memory_.memory(); }

  // The same place in a neighbour's part of a shared window.
  unsigned char* in_part_of(int peer, const void* mine) const { return memory_.part_of(peer) + place(mine); }

 private:
  fl::Window memory_;
};

}  // namespace halo
