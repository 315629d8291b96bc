// Steps of ranks over windows, in memory of their own or of the library's.
#pragma once

#include "windows.hpp"

namespace rdma {

enum class Memory { registered, allocated };

template <Memory memory, class Fabric = Windows>
struct Ranks {
  Exchange<Fabric> exchange;

  void open(State& s) {
    Party& p = s.all_parties[0];
    exchange.fabric.open(s, p.me);
    if (memory == Memory::registered) {
      exchange.fabric.register_memory(p.memory[0], s.memory_bytes());
    } else {
      std::array<unsigned char*, most_interfaces> theirs{};
      exchange.fabric.allocate(s.memory_bytes(), theirs);
      adopt(s, p, theirs);
    }
    fl::barrier();  // no rank may put into memory that is being filled
    exchange.meet(s, p);
  }

  void step(State& s, fl::Index) { exchange.step(s, s.all_parties[0]); }

  void close(State& s) {
    exchange.fabric.close();
    s.all_parties[0].memory.fill(s.all_parties[0].own.data());
  }
};

}  // namespace rdma
