// Along a hypercube: in each dimension processes exchange with one neighbour what belongs to its half, so that log2(p) messages carry 1024
// updates of each process to p places.
#pragma once

#include <mpi.h>

#include <vector>

#include "owners.hpp"

namespace random_access {

class Hypercube {
 public:
  void open(State& s) {
    in_.resize(static_cast<std::size_t>(look_ahead) * static_cast<std::size_t>(s.team.ranks));  // if all are for one process
  }

  void step(State& s, fl::Index) {
    const Owners owners(s);
    const Mine mine(s, owners);
    const Share share = share_of(s, s.team.rank, s.team.ranks);
    each(share, [&](Word a) {
      here_.push_back(a);
      if (static_cast<fl::Index>(here_.size()) == look_ahead) route(s, owners, mine);
    });
    // Shares are of one length, for a power of two divides the updates.
    if (share.count % look_ahead != 0) route(s, owners, mine);
  }

 private:
  void route(const State& s, const Owners& owners, const Mine& mine) {
    for (int bit = 1; bit < s.team.ranks; bit <<= 1) {
      const int peer = s.team.rank ^ bit;
      const auto stays = [&](Word a) { return ((owners.of(a) ^ s.team.rank) & bit) == 0; };
      there_.clear();
      std::size_t kept = 0;
      for (const Word a : here_) {
        if (stays(a))
          here_[kept++] = a;
        else
          there_.push_back(a);
      }
      here_.resize(kept);
      MPI_Status status;
      int count = 0;
      MPI_Sendrecv(there_.data(), static_cast<int>(there_.size()), MPI_UINT64_T, peer, 0, in_.data(), static_cast<int>(in_.size()),
                   MPI_UINT64_T, peer, 0, MPI_COMM_WORLD, &status);
      MPI_Get_count(&status, MPI_UINT64_T, &count);
      here_.insert(here_.end(), in_.begin(), in_.begin() + count);
    }
    mine.update(here_.data(), static_cast<fl::Index>(here_.size()));
    here_.clear();
  }

  std::vector<Word> here_, there_, in_;
};

}  // namespace random_access
