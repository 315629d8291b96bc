// Boxes in a window, for transports that send no messages: of each parcel that comes two, used alternately, each with the number of the
// exchange behind its bytes.
//
// Two are enough: who fills the box of exchange k + 2 has had this rank's parcels of exchange k + 1, which it sent after it had emptied
// the box of exchange k. So whom a rank receives from it has to send to, which is required here.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "firstlight/grid/blocks.hpp"
#include "firstlight/grid/parcel.hpp"
#include "firstlight/window.hpp"

namespace fl::grid::inline FL_ROLE {

class MpiBoxes {
 public:
  // Collective over the communicator, by whose ranks parcels know their peers.
  void open(const std::vector<Parcel>& receives, const std::vector<Parcel>& sends, MPI_Comm communicator, bool shared) {
    require_answers(receives, sends);
    for (const Parcel& p : receives) ins_.push_back({p.peer, number_at(p.bytes), bytes_, nullptr}), bytes_ += 2 * box_bytes(p.bytes);
    for (const Parcel& p : sends) outs_.push_back({p.peer, number_at(p.bytes), 0, nullptr});
    long long mine = bytes_, most = 0;
    MPI_Allreduce(&mine, &most, 1, MPI_LONG_LONG, MPI_MAX, communicator);
    if (most == 0) return;  // no rank sends anything
    window_.open(bytes_, shared, communicator);
    open_ = true;
    if (bytes_ > 0) std::memset(window_.memory(), 0, static_cast<std::size_t>(bytes_));
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window_.handle());
    MPI_Win_sync(window_.handle());  // all numbers are 0 before any rank has their addresses
    send_places(receives, sends, communicator);
    for (Box& box : ins_) box.first = window_.memory() + box.at;
    if (shared)
      for (Box& box : outs_) box.first = window_.part_of(box.peer) + box.at;
  }
  // Collective, before MPI ends.
  void close() {
    if (!open_) return;
    MPI_Win_unlock_all(window_.handle());
    window_.close();
    open_ = false;
  }

  bool used() const { return open_; }
  MPI_Win window() const { return window_.handle(); }
  // From now on boxes are those of the next exchange.
  void turn() { ++number_; }
  std::uint64_t number() const { return number_; }

  // The boxes here, in the order of `receives`.
  unsigned char* inbox(std::size_t r) const { return ins_[r].first + turned(ins_[r]); }
  std::uint64_t* number_in(std::size_t r) const { return reinterpret_cast<std::uint64_t*>(inbox(r) + ins_[r].number_at); }
  // Those of the peers, in the order of `sends`: where in their parts, and of shared windows where they are here.
  MPI_Aint place(std::size_t s) const { return outs_[s].at + turned(outs_[s]); }
  MPI_Aint place_of_number(std::size_t s) const { return place(s) + outs_[s].number_at; }
  unsigned char* outbox(std::size_t s) const { return outs_[s].first + turned(outs_[s]); }
  std::uint64_t* number_out(std::size_t s) const { return reinterpret_cast<std::uint64_t*>(outbox(s) + outs_[s].number_at); }

  std::size_t coming() const { return ins_.size(); }
  std::size_t going() const { return outs_.size(); }

  // Until all parcels of this exchange are here. A library that moves data in software gets its turn.
  void await() const {
    for (std::size_t r = 0; r < ins_.size(); ++r) await_put(number_in(r), number_);
  }

 private:
  struct Box {
    int peer;
    Index number_at;       // behind its bytes
    Index at;              // of the first of two in its owner's part
    unsigned char* first;  // the same as an address, where that is here
  };
  struct Place {
    long long at, bytes;
  };

  static Index number_at(Index bytes) { return (bytes + 7) / 8 * 8; }
  static Index box_bytes(Index bytes) { return whole_pairs(number_at(bytes) + 8); }
  Index turned(const Box& box) const { return number_ % 2 == 0 ? 0 : whole_pairs(box.number_at + 8); }

  static void require_answers(const std::vector<Parcel>& receives, const std::vector<Parcel>& sends) {
    for (const Parcel& in : receives) {
      const bool answered = std::any_of(sends.begin(), sends.end(), [&](const Parcel& out) { return out.peer == in.peer; });
      require(answered,
              "rank " + std::to_string(in.peer) + " puts data into the window of a rank that sends no data back: use two-sided messages");
    }
  }

  // Sends each peer the places of its parcels, under the tags with which the parcels travel in the other direction.
  void send_places(const std::vector<Parcel>& receives, const std::vector<Parcel>& sends, MPI_Comm communicator) {
    std::vector<Place> theirs(sends.size()), mine(receives.size());
    std::vector<MPI_Request> requests(sends.size() + receives.size());
    MPI_Request* request = requests.data();
    for (std::size_t s = 0; s < sends.size(); ++s)
      MPI_Irecv(&theirs[s], sizeof(Place), MPI_BYTE, sends[s].peer, sends[s].tag, communicator, request++);
    for (std::size_t r = 0; r < receives.size(); ++r) {
      mine[r] = {ins_[r].at, receives[r].bytes};
      MPI_Isend(&mine[r], sizeof(Place), MPI_BYTE, receives[r].peer, receives[r].tag, communicator, request++);
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    for (std::size_t s = 0; s < sends.size(); ++s) {
      require(theirs[s].bytes == sends[s].bytes,
              "a parcel of " + std::to_string(sends[s].bytes) + " bytes goes to a box for " + std::to_string(theirs[s].bytes));
      outs_[s].at = theirs[s].at;
    }
  }

  Window window_;
  bool open_ = false;
  Index bytes_ = 0;  // of this rank's part
  std::uint64_t number_ = 0;
  std::vector<Box> ins_, outs_;
};

}  // namespace fl::grid::inline FL_ROLE
