// The interface in one address space: an address is a pointer, a put is a copy, and a notice a store that follows it.
#pragma once

#include "exchange.hpp"

namespace rdma {

// What the parties of a process share.
class Yard {
 public:
  void open(const Shape& s) {
    interfaces_ = s.interfaces;
    parties_ = s.parties;
    room_ = room_of(s);
    stride_ = fl::whole_pairs(room_ * static_cast<fl::Index>(sizeof(std::uint64_t))) / static_cast<fl::Index>(sizeof(std::uint64_t));
    words_ = fl::Array<std::uint64_t>(stride_ * s.parties * s.parties * s.interfaces);
    std::fill(words_.begin(), words_.end(), 0);
    addresses_.assign(static_cast<std::size_t>(s.parties), 0);
  }
  std::uint64_t* ring(int receiver, int interface, int sender) {
    return words_.data() + ((receiver * interfaces_ + interface) * parties_ + sender) * stride_;
  }
  Address& address(int party) { return addresses_[static_cast<std::size_t>(party)]; }
  int room() const { return room_; }

 private:
  int interfaces_ = 1, parties_ = 1, room_ = 0;
  fl::Index stride_ = 0;
  fl::Array<std::uint64_t> words_;
  std::vector<Address> addresses_;
};

class Stores {
 public:
  void open(const Shape& s, int me, Yard& yard) {
    me_ = me;
    yard_ = &yard;
    lanes_.resize(static_cast<std::size_t>(s.interfaces));
    for (int i = 0; i < s.interfaces; ++i) {
      Lane& lane = lanes_[static_cast<std::size_t>(i)];
      lane.sent.resize(static_cast<std::size_t>(s.parties), 0);
      for (const int peer : peers_of(s, me)) lane.rings.listen({yard.ring(me, i, peer), yard.room(), peer});
    }
  }

  // All parties have registered their memory before any requests an address.
  Address register_memory(unsigned char* memory, fl::Index) { return yard_->address(me_) = reinterpret_cast<Address>(memory); }
  Address address_of(int peer) const { return yard_->address(peer); }

  void put(const Transfer& t) {
    if (t.bytes > 0) std::memcpy(reinterpret_cast<void*>(t.remote), t.local, static_cast<std::size_t>(t.bytes));
    finish(t);
  }
  void get(const Transfer& t) {
    std::memcpy(t.local, reinterpret_cast<const void*>(t.remote), static_cast<std::size_t>(t.bytes));
    finish(t);
  }

  Event poll(int interface) {
    Lane& lane = lanes_[static_cast<std::size_t>(interface)];
    if (lane.reported < lane.done.size()) return lane.done[lane.reported++];
    lane.done.clear();
    lane.reported = 0;
    return lane.rings.take();
  }

  void progress() const {}

 protected:
  struct Lane {
    std::vector<Event> done;
    std::size_t reported = 0;
    std::vector<std::uint32_t> sent;
    Rings rings;
  };

  void finish(const Transfer& t) {
    Lane& lane = lanes_[static_cast<std::size_t>(t.interface)];
    lane.done.push_back({Event::complete, t.peer, t.tag});
    if (!t.notice) return;
    const std::uint32_t number = ++lane.sent[static_cast<std::size_t>(t.peer)];
    std::uint64_t& word = yard_->ring(t.peer, t.interface, me_)[Notice::place(number, yard_->room())];
    std::atomic_ref(word).store(Notice::word(number, t.tag), std::memory_order_release);
  }

  int me_ = 0;
  Yard* yard_ = nullptr;
  std::vector<Lane> lanes_;
};

}  // namespace rdma
