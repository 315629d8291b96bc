// Steps of the threads of one process.
#pragma once

#include "stores.hpp"

namespace rdma {

// Pages next to the thread that they belong to.
inline void first_touch(State& s) {
#pragma omp parallel for num_threads(s.team.threads) schedule(static, 1)
  for (std::size_t t = 0; t < s.all_parties.size(); ++t) {
    fl::Array<unsigned char>& memory = s.all_parties[t].own;
    std::memset(memory.data(), 0, static_cast<std::size_t>(memory.size()));
  }
}

template <class Fabric>
struct Threads {
  Yard yard;
  std::vector<Exchange<Fabric>> exchanges;

  void open(State& s) {
    yard.open(s);
    exchanges.resize(s.all_parties.size());
    for (std::size_t t = 0; t < exchanges.size(); ++t) {
      Party& p = s.all_parties[t];
      exchanges[t].fabric.open(s, p.me, yard);
      exchanges[t].fabric.register_memory(p.memory[0], s.memory_bytes());
    }
    for (std::size_t t = 0; t < exchanges.size(); ++t) exchanges[t].meet(s, s.all_parties[t]);
  }

  void loop(State& s, fl::Index first, fl::Index count) {
#pragma omp parallel for num_threads(s.team.threads) schedule(static, 1)
    for (std::size_t t = 0; t < exchanges.size(); ++t) {
      for (fl::Index i = first; i < first + count; ++i) {
        mutate_inputs(s, s.all_parties[t], i);
        exchanges[t].step(s, s.all_parties[t]);
      }
    }
  }
};

}  // namespace rdma
