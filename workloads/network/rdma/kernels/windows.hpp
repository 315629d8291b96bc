// The interface over MPI: a window for each interface, in passive epochs that last as long as it does. A put is complete when a flush returns,
// which poll() requests; only then its notice is put, into a window of its own. So nothing blocks where it is called, and a notice never
// overtakes its bytes.
#pragma once

#include "exchange.hpp"
#include "firstlight/window.hpp"

namespace rdma {

class Windows {
 public:
  void open(const Shape& s, int me) {
    me_ = me;
    peers_ = peers_of(s, me);
    room_ = room_of(s);
    ring_bytes_ = fl::whole_pairs(room_ * word_bytes);
    notices_.open(fl::line_pair + s.interfaces * s.parties * ring_bytes_, false);
    std::memset(notices_.memory(), 0, static_cast<std::size_t>(fl::line_pair + s.interfaces * s.parties * ring_bytes_));
    parties_ = s.parties;
    lanes_.resize(static_cast<std::size_t>(s.interfaces));
    for (int i = 0; i < s.interfaces; ++i) {
      Lane& lane = lanes_[static_cast<std::size_t>(i)];
      lane.sent.resize(static_cast<std::size_t>(s.parties), 0);
      for (const int peer : peers_)
        lane.rings.listen({reinterpret_cast<std::uint64_t*>(notices_.memory() + ring_at(i, peer)), room_, peer});
    }
    MPI_Win_lock_all(MPI_MODE_NOCHECK, notices_.handle());
  }

  // Memory of the caller's, the same for all interfaces.
  Address register_memory(unsigned char* memory, fl::Index bytes) {
    for (Lane& lane : lanes_) {
      MPI_Win_create(memory, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &lane.window);
      MPI_Win_lock_all(MPI_MODE_NOCHECK, lane.window);
    }
    return published(0);
  }

  // Memory of the library's, for each interface its own; such windows are what libraries are fast in.
  Address allocate(fl::Index bytes, std::array<unsigned char*, most_interfaces>& memory) {
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      lanes_[i].memory.open(bytes, false);
      lanes_[i].window = lanes_[i].memory.handle();
      memory[i] = lanes_[i].memory.memory();
      MPI_Win_lock_all(MPI_MODE_NOCHECK, lanes_[i].window);
    }
    return published(0);
  }

  void close() {
    for (Lane& lane : lanes_) {
      MPI_Win_unlock_all(lane.window);
      MPI_Win_free(&lane.window);
    }
    MPI_Win_unlock_all(notices_.handle());
    notices_.close();
  }

  Address address_of(int peer) const {
    Address theirs = 0;
    MPI_Get(&theirs, sizeof theirs, MPI_BYTE, peer, 0, sizeof theirs, MPI_BYTE, notices_.handle());
    MPI_Win_flush(peer, notices_.handle());
    return theirs;
  }

  void put(const Transfer& t) {
    start(t);
    lane_of(t).pending.push_back(t);
  }

  void get(const Transfer& t) {
    const int bytes = static_cast<int>(t.bytes);
    MPI_Get(t.local, bytes, MPI_BYTE, t.peer, static_cast<MPI_Aint>(t.remote), bytes, MPI_BYTE, lane_of(t).window);
    lane_of(t).pending.push_back(t);
  }

  Event poll(int interface) {
    Lane& lane = lanes_[static_cast<std::size_t>(interface)];
    if (!lane.pending.empty()) complete(interface, lane);
    if (lane.reported < lane.done.size()) {
      const Transfer& t = lane.done[lane.reported++];
      return {Event::complete, t.peer, t.tag};
    }
    const Event e = lane.rings.take();
    if (e.kind == Event::notice) MPI_Win_sync(lane.window);
    return e;
  }

  // A library that moves data in software is given its turn.
  void progress() const {
    int found = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
  }

 protected:
  static constexpr fl::Index word_bytes = sizeof(std::uint64_t);

  struct Lane {
    MPI_Win window = MPI_WIN_NULL;
    fl::Window memory;              // where the library allocated it
    std::vector<Transfer> pending;  // put or got, and not known to be complete
    std::vector<Transfer> done;     // complete; poll() returned the first `reported` of them
    std::size_t reported = 0;
    std::vector<std::uint64_t> words;  // of notices on their way
    std::vector<std::uint32_t> sent;   // notices so far, by peer
    Rings rings;
  };

  Lane& lane_of(const Transfer& t) { return lanes_[static_cast<std::size_t>(t.interface)]; }
  MPI_Aint ring_at(int interface, int sender) const { return fl::line_pair + (interface * parties_ + sender) * ring_bytes_; }

  void start(const Transfer& t) {
    const int bytes = static_cast<int>(t.bytes);
    if (bytes > 0) MPI_Put(t.local, bytes, MPI_BYTE, t.peer, static_cast<MPI_Aint>(t.remote), bytes, MPI_BYTE, lane_of(t).window);
  }

  Address published(Address mine) {
    std::memcpy(notices_.memory(), &mine, sizeof mine);
    MPI_Win_sync(notices_.handle());
    fl::barrier();
    return mine;
  }

  // Peer by peer: MPICH 4.0 returns from MPI_Win_flush_all while a get is under way, and while it still reads what is put.
  void flush(MPI_Win window) const {
    for (const int peer : peers_) MPI_Win_flush(peer, window);
  }

  void complete(int interface, Lane& lane) {
    MPI_Win_sync(lane.window);  // what was stored here may be got once the notice is there
    flush(lane.window);
    lane.done.erase(lane.done.begin(), lane.done.begin() + static_cast<std::ptrdiff_t>(lane.reported));
    lane.reported = 0;
    lane.words.resize(lane.pending.size());
    for (std::size_t k = 0; k < lane.pending.size(); ++k) {
      const Transfer& t = lane.pending[k];
      lane.done.push_back(t);
      if (t.notice) notify(interface, lane, t, &lane.words[k]);
    }
    flush(notices_.handle());
    lane.pending.clear();
  }

  void notify(int interface, Lane& lane, const Transfer& t, std::uint64_t* word) const {
    const std::uint32_t number = ++lane.sent[static_cast<std::size_t>(t.peer)];
    *word = Notice::word(number, t.tag);
    MPI_Put(word, word_bytes, MPI_BYTE, t.peer, ring_at(interface, me_) + Notice::place(number, room_) * word_bytes, word_bytes, MPI_BYTE,
            notices_.handle());
  }

  int me_ = 0, parties_ = 1, room_ = 0;
  std::vector<int> peers_;
  fl::Index ring_bytes_ = 0;
  fl::Window notices_;  // a peer's address, and rings of notices by interface and sender
  std::vector<Lane> lanes_;
};

}  // namespace rdma
