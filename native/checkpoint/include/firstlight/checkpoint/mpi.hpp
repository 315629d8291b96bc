// The ranks of a communicator that save and restore together.
#pragma once

#include <mpi.h>

#include <algorithm>

#include "firstlight/checkpoint/team.hpp"

namespace fl::checkpoints::inline FL_ROLE {

class Ranks {
 public:
  Ranks() = default;
  explicit Ranks(MPI_Comm communicator) : communicator_(communicator) {
    MPI_Comm_rank(communicator, &rank_);
    MPI_Comm_size(communicator, &size_);
  }

  int rank() const { return rank_; }
  int size() const { return size_; }
  MPI_Comm communicator() const { return communicator_; }

  void agree(const std::string& error) const {
    int mine = error.empty() ? size_ : rank_, first = 0;
    MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, communicator_);
    if (first == size_) return;
    char text[1000] = {};
    if (rank_ == first) error.copy(text, sizeof text - 1);
    MPI_Bcast(text, sizeof text, MPI_CHAR, first, communicator_);
    throw Failure(text);
  }

  std::vector<Words> gather(const Words& mine) const {
    const int count = static_cast<int>(mine.size());
    std::vector<int> counts(static_cast<std::size_t>(size_)), begins(counts);
    MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, communicator_);
    int all = 0;
    for (std::size_t r = 0; r < counts.size(); ++r) begins[r] = all, all += counts[r];
    Words words(static_cast<std::size_t>(all));
    MPI_Allgatherv(mine.data(), count, MPI_UINT64_T, words.data(), counts.data(), begins.data(), MPI_UINT64_T, communicator_);
    std::vector<Words> found;
    for (std::size_t r = 0; r < counts.size(); ++r) found.emplace_back(words.begin() + begins[r], words.begin() + begins[r] + counts[r]);
    return found;
  }

  std::uint64_t total(std::uint64_t mine) const {
    std::uint64_t sum = 0;
    MPI_Allreduce(&mine, &sum, 1, MPI_UINT64_T, MPI_SUM, communicator_);
    return sum;
  }

  // Messages between two ranks keep the order of the items, so all have one tag. Long ones travel in parts: counts are ints.
  template <class Pack, class Unpack>
  void deliver(const std::vector<Item>& items, const Pack& pack, const Unpack& unpack) const {
    std::vector<Bytes> memory(items.size());
    std::vector<MPI_Request> requests;
    const auto parts = [&](std::size_t k, const auto& call) {
      for (std::size_t at = 0; at < items[k].bytes; at += longest)
        call(memory[k].data() + at, static_cast<int>(std::min(longest, items[k].bytes - at)), &requests.emplace_back());
    };
    for (std::size_t k = 0; k < items.size(); ++k) {
      if (items[k].to != rank_) continue;
      memory[k].resize(items[k].bytes);
      if (items[k].from == rank_) continue;
      parts(k, [&](void* data, int bytes, MPI_Request* request) {
        MPI_Irecv(data, bytes, MPI_BYTE, items[k].from, tag, communicator_, request);
      });
    }
    for (std::size_t k = 0; k < items.size(); ++k) {
      if (items[k].from != rank_) continue;
      memory[k].resize(items[k].bytes);
      pack(k, memory[k].data());
      if (items[k].to == rank_) continue;
      parts(k, [&](void* data, int bytes, MPI_Request* request) {
        MPI_Isend(data, bytes, MPI_BYTE, items[k].to, tag, communicator_, request);
      });
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    for (std::size_t k = 0; k < items.size(); ++k)
      if (items[k].to == rank_) unpack(k, static_cast<const unsigned char*>(memory[k].data()));
  }

 private:
  static constexpr std::size_t longest = std::size_t{1} << 30;
  static constexpr int tag = 717;

  MPI_Comm communicator_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
};

}  // namespace fl::checkpoints::inline FL_ROLE
