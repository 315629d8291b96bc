// R4's extended RDMA interface in short, and the notices by which it reports what has come. A *fabric* (windows.hpp over MPI, stores.hpp in
// one address space) offers one party
//
//   Address register_memory(memory, bytes)   memory that others may write and read from now on; collective
//   Address address_of(peer)                 where a peer's registered memory begins
//   void put(transfer), void get(transfer)   return at once: fire and forget
//   Event poll(interface)                    what is complete here, or a notice from a peer
//
// Transfers of one interface and peer are reported in their order; those of several interfaces in any. A notice follows the bytes of its
// put; the notice of a get means that they have been read. As many notices as `room` may be on their way from one peer by one interface:
// more end the job.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "rdma.hpp"

namespace rdma {

using Address = std::int64_t;  // plus an offset in bytes, it is one of the same memory
using Tag = std::uint32_t;

struct Transfer {
  int peer = 0;
  Address remote = 0;
  void* local = nullptr;
  fl::Index bytes = 0;
  Tag tag = 0;
  int interface = 0;
  bool notice = false;
};

struct Event {
  enum Kind { none, complete, notice };
  Kind kind = none;
  int peer = 0;
  Tag tag = 0;
};

// A notice is one word: which it is of its sender's on its interface, and a tag. It is in place number modulo room.
struct Notice {
  static std::uint64_t word(std::uint32_t number, Tag tag) { return std::uint64_t{number} << 32 | tag; }
  static fl::Index place(std::uint32_t number, int room) { return static_cast<fl::Index>(number % static_cast<std::uint32_t>(room)); }
};

// The notices of one peer by one interface, at their receiver, in their order.
class Ring {
 public:
  Ring(std::uint64_t* words, int room, int peer) : words_(words), room_(room), peer_(peer) {}

  Event take() {
    const std::uint64_t word = std::atomic_ref(words_[Notice::place(next_, room_)]).load(std::memory_order_acquire);
    const auto number = static_cast<std::uint32_t>(word >> 32);
    if (number != next_) {
      if (static_cast<std::int32_t>(number - next_) > 0)
        fl::abort_all(fl::text("rdma: notice %u of participant %d was overwritten by notice %u before it was read", next_, peer_, number));
      return {};
    }
    ++next_;
    return {Event::notice, peer_, static_cast<Tag>(word)};
  }

 private:
  std::uint64_t* words_;
  int room_, peer_;
  std::uint32_t next_ = 1;
};

// The rings of an interface, polled alternately.
class Rings {
 public:
  void listen(const Ring& ring) { rings_.push_back(ring); }
  Event take() {
    for (std::size_t k = 0; k < rings_.size(); ++k) {
      if (turn_ == rings_.size()) turn_ = 0;
      const Event e = rings_[turn_++].take();
      if (e.kind != Event::none) return e;
    }
    return {};
  }

 private:
  std::vector<Ring> rings_;
  std::size_t turn_ = 0;
};

// Those that a party has to do with, each once.
inline std::vector<int> peers_of(const Shape& s, int me) {
  std::vector<int> peers;
  for (int d = 0; d < s.directions; ++d)
    if (const int peer = s.target(me, d); std::find(peers.begin(), peers.end(), peer) == peers.end()) peers.push_back(peer);
  return peers;
}

// Returns the number of slots for the messages of two steps on one interface: a partner may be a step ahead.
inline int room_of(const Shape& s) { return 2 * (s.all() + s.directions); }

}  // namespace rdma
