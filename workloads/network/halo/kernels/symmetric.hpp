// Boxes and flags in OpenSHMEM's symmetric memory. Boxes come in two sets, used alternately: who fills the second next one has seen its
// neighbour's flag of the exchange between, which the neighbour raises after it has emptied the first.
#pragma once

#include <shmem.h>

#include <cstdio>

#include "boxes.hpp"
#include "sides.hpp"

namespace halo {

class Symmetric {
 public:
  void open(State& s) {
    sides.open(s);
    room_ = longest_bytes(s);
    boxes_ = static_cast<unsigned char*>(grabbed(static_cast<std::size_t>(2 * halo::sides * room_)));
    flags_ = static_cast<std::uint64_t*>(grabbed(halo::sides * line));
    for (std::size_t word = 0; word < halo::sides * line / sizeof *flags_; ++word) flags_[word] = 0;
    shmem_barrier_all();
  }

  void close() {
    shmem_barrier_all();
    shmem_free(flags_);
    shmem_free(boxes_);
    sides.close();
  }

  // Addresses are those of this process and of every other; `way` is the side that the receiver sees.
  unsigned char* box(int way, std::uint64_t exchange) const { return boxes_ + (2 * way + static_cast<int>(exchange & 1)) * room_; }
  std::uint64_t* flag(int way) const { return flags_ + way * static_cast<int>(line / sizeof *flags_); }

  Sides sides;

 private:
  static constexpr std::size_t line = fl::line_pair;  // for each flag

  static void* grabbed(std::size_t bytes) {
    void* memory = shmem_align(line, bytes);
    if (memory == nullptr) {
      std::fprintf(stderr, "OpenSHMEM's symmetric memory is too small for another %zu bytes; choose a smaller n or width\n", bytes);
      shmem_global_exit(3);
    }
    return memory;
  }

  fl::Index room_ = 0;
  unsigned char* boxes_ = nullptr;
  std::uint64_t* flags_ = nullptr;
};

// Sends the words first, then their flag: only the fence keeps their order.
inline void put(const State& s, const Symmetric& shared, const Side& side, std::uint64_t number) {
  const int there = opposite(side.way);
  shmem_putmem(shared.box(there, number), side.outbox, static_cast<std::size_t>(bytes(s, side.out)), side.peer);
  shmem_fence();
  shmem_uint64_p(shared.flag(there), number, side.peer);
}

inline void take(const State& s, const Symmetric& shared, const Side& side, std::uint64_t number) {
  unpack(s, shared.box(side.way, number), s.domains[0].field, side.in);
}

}  // namespace halo
