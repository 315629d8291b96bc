// Sub-domains of threads that share an address space: each thread packs into boxes of its own and counts up a flag; its neighbours
// read the boxes. Boxes come in two sets, used alternately: who packs exchange k + 2 has seen its neighbours' flags of exchange k + 1,
// which they raise after they have read exchange k.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>
#include <vector>

#include "boxes.hpp"
#include "firstlight/lines.hpp"

namespace halo {

// Waiting for a number that another party counts up.
struct alignas(fl::line_pair) Flag {
  std::atomic<std::uint64_t> number{0};
};

inline void announce(Flag& flag, std::uint64_t number) { flag.number.store(number, std::memory_order_release); }

// Until `number` or a later one is there. Whom it waits for may need this processor, so it yields after a while.
inline void await(const Flag& flag, std::uint64_t number) {
  constexpr int patience = 1 << 15;
  for (int spins = 0; flag.number.load(std::memory_order_acquire) < number; ++spins)
    if (spins >= patience) sched_yield();
}

class Desk {
 public:
  void open(const Shape& s) {
    room_ = longest_bytes(s);
    boxes_ = fl::Array<unsigned char>(2 * sides * room_);
    std::memset(boxes_.data(), 0, static_cast<std::size_t>(boxes_.size()));  // written first by the thread that it belongs to
    for (Flag& flag : ready) flag.number = 0;
  }

  unsigned char* box(int way, std::uint64_t exchange) { return boxes_.data() + (2 * way + static_cast<int>(exchange & 1)) * room_; }

  std::array<Flag, 2> ready;  // the last exchange whose boxes are packed, for either phase

 private:
  fl::Index room_ = 0;
  fl::Array<unsigned char> boxes_;
};

// One phase: sides `low` and `low + 1`. `wait(flag, number)` returns when the neighbour has packed.
template <class Wait>
inline void exchange(const State& s, std::vector<Desk>& desks, const Domain& d, int low, std::uint64_t number, Wait wait) {
  const auto phase = static_cast<std::size_t>(low / 2);
  if (d.neighbour[static_cast<std::size_t>(low)] == d.me) {
    for (int way = low; way < low + 2; ++way) copy(s, d.field, outgoing(s, way), d.field, incoming(s, opposite(way)));
    return;
  }
  Desk& mine = desks[static_cast<std::size_t>(d.me)];
  for (int way = low; way < low + 2; ++way) pack(s, d.field, outgoing(s, way), mine.box(way, number));
  announce(mine.ready[phase], number);
  for (int way = low; way < low + 2; ++way) {
    Desk& other = desks[static_cast<std::size_t>(d.neighbour[static_cast<std::size_t>(way)])];
    wait(other.ready[phase], number);
    unpack(s, other.box(opposite(way), number), d.field, incoming(s, way));
  }
}

// Steps of which each thread does those of its sub-domain, by itself: phase(d, low, number) exchanges in one dimension.
// `exchanges`: how many there were before.
template <class Phase>
inline void loop_alone(State& s, fl::Index first, fl::Index count, std::uint64_t& exchanges, Phase phase) {
#pragma omp parallel for num_threads(s.team.threads) schedule(static, 1)
  for (std::size_t t = 0; t < s.domains.size(); ++t) {
    Domain& d = s.domains[t];
    std::uint64_t number = exchanges;
    for (fl::Index i = first; i < first + count; ++i) {
      ++number;
      mutate_inputs(s, d, i);
      phase(d, north, number);
      phase(d, west, number);
    }
  }
  exchanges += static_cast<std::uint64_t>(count);
}

inline std::string packed_between_threads(const Params& p) {
  if (p.data != Data::packed)
    return "this variant of halo supports only data=packed: a neighbour cannot read a field that its owner is changing";
  return "";
}

}  // namespace halo
