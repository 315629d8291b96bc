// The one-sided transport: parcels are put into their receivers' boxes in one passive epoch; then, after a flush, the number of the
// exchange, which the receiver waits for. No rank waits for consent (mpi_boxes.hpp).
#pragma once

#include "firstlight/grid/mpi.hpp"
#include "firstlight/grid/mpi_boxes.hpp"

namespace fl::grid::inline FL_ROLE {

struct MpiPut {
  MPI_Comm communicator = MPI_COMM_WORLD;  // its ranks are those of the process grid
  Index most = INT_MAX;                    // bytes that are counted by an int; longer parcels use a datatype

  class Channel;
};

class MpiPut::Channel {
 public:
  Channel(const MpiPut& put, const std::vector<Parcel>& receives, const std::vector<Parcel>& sends) : sends_(sends) {
    boxes_.open(receives, sends, put.communicator, false);
    for (const Parcel& p : sends) {
      bytes_.emplace_back(p.bytes, put.most);
      if (std::find(peers_.begin(), peers_.end(), p.peer) == peers_.end()) peers_.push_back(p.peer);
    }
  }
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  ~Channel() {
    if (detail::mpi_is_over()) return;
    for (detail::Bytes& bytes : bytes_) bytes.free();
    boxes_.close();
  }

  void receive() { boxes_.turn(); }
  void send() {
    for (std::size_t s = 0; s < sends_.size(); ++s) {
      const detail::Bytes& b = bytes_[s];
      MPI_Put(sends_[s].data, b.count, b.type, sends_[s].peer, boxes_.place(s), b.count, b.type, boxes_.window());
    }
    silent_ = !sends_.empty();
  }
  void wait() {
    notify();
    flush();  // the number is read from here until then
    boxes_.await();
    if (boxes_.used()) MPI_Win_sync(boxes_.window());
  }
  void progress() { notify(); }

  unsigned char* arrived(std::size_t number) { return boxes_.inbox(number); }

 private:
  // Notifies the peers that the bytes are there; the flush before ensures it.
  void notify() {
    if (!silent_) return;
    silent_ = false;
    flush();
    number_ = boxes_.number();
    for (std::size_t s = 0; s < sends_.size(); ++s)
      MPI_Put(&number_, 1, MPI_UINT64_T, sends_[s].peer, boxes_.place_of_number(s), 1, MPI_UINT64_T, boxes_.window());
  }
  // Peer by peer: MPICH 4.0 returns from MPI_Win_flush_all while it still reads what is put.
  void flush() const {
    for (const int peer : peers_) MPI_Win_flush(peer, boxes_.window());
  }

  std::vector<Parcel> sends_;
  std::vector<detail::Bytes> bytes_;  // of each
  std::vector<int> peers_;            // each once
  MpiBoxes boxes_;
  bool silent_ = false;       // bytes are on their way, and no peer is notified yet
  std::uint64_t number_ = 0;  // that is put
};

}  // namespace fl::grid::inline FL_ROLE
