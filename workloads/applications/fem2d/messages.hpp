// Blocks of different processes: one packed message for each neighbour and iteration.
#pragma once

#include <mpi.h>

#include "fem2d.hpp"

namespace fem2d::inline FL_ROLE {

// Persistent requests for all links of a process's blocks that lead to another process: of whole messages, or level by level.
class Mail {
 public:
  enum Parcel { whole, levels };

  Mail(State& s, Parcel parcel) {
    const std::size_t parts = parcel == whole ? 1 : static_cast<std::size_t>(s.level + 1 - s.cut.base);
    for (std::size_t part = 0; part < parts; ++part) {
      requests_.emplace_back();
      for (Block& b : s.blocks)
        for (Link& link : b.links) add(s, b, link, parcel, part);
    }
  }
  ~Mail() {
    for (auto& requests : requests_)
      for (MPI_Request& request : requests) MPI_Request_free(&request);
  }
  Mail(const Mail&) = delete;
  Mail& operator=(const Mail&) = delete;

  void swap(std::size_t part = 0) {
    start(part);
    finish(part);
  }
  void start(std::size_t part = 0) {
    if (requests_[part].empty()) return;
    MPI_Startall(static_cast<int>(requests_[part].size()), requests_[part].data());
  }
  void finish(std::size_t part = 0) { MPI_Waitall(static_cast<int>(requests_[part].size()), requests_[part].data(), MPI_STATUSES_IGNORE); }

 private:
  void add(const State& s, const Block& b, Link& link, Parcel parcel, std::size_t part) {
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
    const auto words = static_cast<int>(count);
    MPI_Request request;
    MPI_Recv_init(link.in.data() + at, words, MPI_DOUBLE, rank, tag(link.block, b.number), MPI_COMM_WORLD, &request);
    requests_[part].push_back(request);
    MPI_Send_init(link.out.data() + at, words, MPI_DOUBLE, rank, tag(b.number, link.block), MPI_COMM_WORLD, &request);
    requests_[part].push_back(request);
  }

  std::vector<std::vector<MPI_Request>> requests_;
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

}  // namespace fem2d::inline FL_ROLE
