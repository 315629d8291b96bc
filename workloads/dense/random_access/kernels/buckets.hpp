// HPC Challenge's way: an update waits in the bucket of the process that has its word. When as many wait as may, the fullest bucket is
// sent, while those of others are taken in. A message without updates means that its sender has no more.
#pragma once

#include <mpi.h>

#include <vector>

#include "owners.hpp"

namespace random_access {

class Buckets {
 public:
  void open(State& s) {
    in_.resize(look_ahead);
    out_.resize(look_ahead);
    waiting_.assign(static_cast<std::size_t>(s.team.ranks), {});
  }

  void step(State& s, fl::Index) {
    const Owners owners(s);
    const Mine mine(s, owners);
    const int me = s.team.rank;
    begin(s.team.ranks - 1);
    fl::Index kept = 0, since = 0;
    each(share_of(s, me, s.team.ranks), [&](Word a) {
      const int owner = owners.of(a);
      if (owner == me) {
        mine.update(a);
      } else {
        waiting_[static_cast<std::size_t>(owner)].push_back(a);
        if (++kept == look_ahead) kept -= send(fullest(), mine);
      }
      if (++since % pause == 0) take(mine);
    });
    for (int away = 1; away < s.team.ranks; ++away) {
      const int to = (me + away) % s.team.ranks;
      if (!waiting_[static_cast<std::size_t>(to)].empty()) send(to, mine);
      send(to, mine);
    }
    while (talking_ > 0) take(mine);
    sent(mine);
  }

 private:
  static constexpr fl::Index pause = 64;  // updates between two looks for messages
  static constexpr int tag = 0;

  void begin(int others) {
    talking_ = others;
    if (talking_ > 0) listen();
  }

  int fullest() const {
    const auto fewer = [](const auto& a, const auto& b) { return a.size() < b.size(); };
    return static_cast<int>(std::max_element(waiting_.begin(), waiting_.end(), fewer) - waiting_.begin());
  }

  // What waits for a process, how much it was.
  fl::Index send(int to, const Mine& mine) {
    sent(mine);
    auto& bucket = waiting_[static_cast<std::size_t>(to)];
    const auto count = static_cast<fl::Index>(bucket.size());
    std::swap(out_, bucket);
    MPI_Isend(out_.data(), static_cast<int>(count), MPI_UINT64_T, to, tag, MPI_COMM_WORLD, &sending_);
    bucket.clear();
    return count;
  }

  // Until the last message has left; its receiver may be waiting for one of its own to leave.
  void sent(const Mine& mine) {
    for (int done = 0; done == 0;) {
      MPI_Test(&sending_, &done, MPI_STATUS_IGNORE);
      if (done == 0) take(mine);
    }
  }

  void listen() { MPI_Irecv(in_.data(), static_cast<int>(look_ahead), MPI_UINT64_T, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &receiving_); }

  // What has come.
  void take(const Mine& mine) {
    while (talking_ > 0) {
      int came = 0, count = 0;
      MPI_Status status;
      MPI_Test(&receiving_, &came, &status);
      if (came == 0) return;
      MPI_Get_count(&status, MPI_UINT64_T, &count);
      mine.update(in_.data(), count);
      if (count == 0) talking_ -= 1;
      if (talking_ > 0) listen();
    }
  }

  std::vector<std::vector<Word>> waiting_;  // by process
  std::vector<Word> in_, out_;
  MPI_Request sending_ = MPI_REQUEST_NULL, receiving_ = MPI_REQUEST_NULL;
  int talking_ = 0;  // other processes that may still send
};

}  // namespace random_access
