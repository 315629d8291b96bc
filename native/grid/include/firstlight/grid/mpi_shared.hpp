// The transport of ranks that share memory: parcels are packed straight into the boxes of their receivers, in a shared window, and
// unpacked there; a number behind them marks them as complete. Neighbours on other nodes are sent two-sided messages.
#pragma once

#include <optional>

#include "firstlight/grid/mpi.hpp"
#include "firstlight/grid/mpi_boxes.hpp"

namespace fl::grid::inline FL_ROLE {

struct MpiShared {
  MPI_Comm communicator = MPI_COMM_WORLD;  // its ranks are those of the process grid
  MPI_Comm node = MPI_COMM_NULL;           // those of them that share memory with this one; null: determined here

  class Channel;
};

class MpiShared::Channel {
 public:
  Channel(const MpiShared& shared, const std::vector<Parcel>& receives, const std::vector<Parcel>& sends) {
    MPI_Comm node = shared.node;
    if (node == MPI_COMM_NULL) MPI_Comm_split_type(shared.communicator, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    std::vector<Parcel> near[2], far[2];
    sort(receives, shared.communicator, node, ins_, near[0], far[0]);
    sort(sends, shared.communicator, node, outs_, near[1], far[1]);
    boxes_.open(near[0], near[1], node, true);
    if (shared.node == MPI_COMM_NULL) MPI_Comm_free(&node);
    if (!far[0].empty() || !far[1].empty()) far_.emplace(Mpi{.communicator = shared.communicator}, far[0], far[1]);
  }
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  ~Channel() {
    if (!detail::mpi_is_over()) boxes_.close();
  }

  void receive() {
    boxes_.turn();
    if (far_) far_->receive();
  }
  void send() {
    for (std::size_t s = 0; s < boxes_.going(); ++s)
      std::atomic_ref(*boxes_.number_out(s)).store(boxes_.number(), std::memory_order_release);
    if (far_) far_->send();
  }
  // This rank has sent everything by now, so no rank that it waits for waits for it.
  void wait() {
    if (far_) far_->wait();
    boxes_.await();
  }
  void progress() {
    if (far_) far_->progress();
  }

  unsigned char* outgoing(std::size_t number) { return outs_[number] == away ? nullptr : boxes_.outbox(outs_[number]); }
  unsigned char* arrived(std::size_t number) { return ins_[number] == away ? nullptr : boxes_.inbox(ins_[number]); }

 private:
  static constexpr std::size_t away = ~std::size_t{0};

  // Those of this node know their peers by its ranks; `numbers`: which of them a parcel is.
  static void sort(const std::vector<Parcel>& parcels, MPI_Comm all, MPI_Comm node, std::vector<std::size_t>& numbers,
                   std::vector<Parcel>& near, std::vector<Parcel>& far) {
    MPI_Group from = MPI_GROUP_NULL, to = MPI_GROUP_NULL;
    MPI_Comm_group(all, &from);
    MPI_Comm_group(node, &to);
    for (const Parcel& p : parcels) {
      int peer = MPI_UNDEFINED;
      MPI_Group_translate_ranks(from, 1, &p.peer, to, &peer);
      const bool here = peer != MPI_UNDEFINED;
      numbers.push_back(here ? near.size() : away);
      (here ? near : far).push_back({here ? peer : p.peer, p.tag, p.data, p.bytes});
    }
    MPI_Group_free(&from);
    MPI_Group_free(&to);
  }

  MpiBoxes boxes_;
  std::vector<std::size_t> ins_, outs_;
  std::optional<Mpi::Channel> far_;
};

}  // namespace fl::grid::inline FL_ROLE
