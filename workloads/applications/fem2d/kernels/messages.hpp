// Blocks of different processes: one packed message for each neighbour and iteration.
#pragma once

#include <memory>

#include "fem2d.hpp"
#include "firstlight/grid/mpi.hpp"

namespace fem2d {

// Persistent requests for all links of a process's blocks that lead to another process: of whole messages, or level by level.
class Mail {
 public:
  enum Parcel { whole, levels };

  Mail(State& s, Parcel parcel) {
    const std::size_t parts = parcel == whole ? 1 : static_cast<std::size_t>(s.level + 1 - s.cut.base);
    for (std::size_t part = 0; part < parts; ++part) {
      Parcels receives, sends;
      for (Block& b : s.blocks)
        for (Link& link : b.links) add(s, b, link, parcel, part, receives, sends);
      channels_.push_back(std::make_unique<Mpi::Channel>(Mpi{.requests = Mpi::Requests::persistent}, receives, sends));
    }
  }

  void swap(std::size_t part = 0) {
    start(part);
    finish(part);
  }
  void start(std::size_t part = 0) {
    channels_[part]->receive();
    channels_[part]->send();
  }
  void finish(std::size_t part = 0) { channels_[part]->wait(); }

 private:
  using Mpi = fl::grid::Mpi;
  using Parcels = std::vector<fl::grid::Parcel>;

  static void add(const State& s, const Block& b, Link& link, Parcel parcel, std::size_t part, Parcels& receives, Parcels& sends) {
    const int here = static_cast<int>(s.blocks.size()), rank = link.block / here;
    if (rank == s.team.rank) return;
    link.in.resize(link.out.size());
    link.arriving = link.in.data();
    fl::Index at = 0, count = static_cast<fl::Index>(link.out.size());
    if (parcel == levels) {
      for (std::size_t p = 0; p < part; ++p) at += link.shared[p].count;
      count = link.shared[part].count;
    }
    const auto tag = [&](int from, int to) { return (from % here) * here + to % here; };  // unique among the blocks of two processes
    const auto bytes = count * static_cast<fl::Index>(sizeof(double));
    receives.push_back({rank, tag(link.block, b.number), link.in.data() + at, bytes});
    sends.push_back({rank, tag(b.number, link.block), link.out.data() + at, bytes});
  }

  std::vector<std::unique_ptr<Mpi::Channel>> channels_;
};

inline void sum_over_ranks(double* values, fl::Index count) {
  MPI_Allreduce(MPI_IN_PLACE, values, static_cast<int>(count), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

// A process with one block.
struct Rank {
  Mail mail;

  void sum(double* values, fl::Index count) { sum_over_ranks(values, count); }
  void swap(Block&, std::size_t part = 0) { mail.swap(part); }
};

}  // namespace fem2d
