// One-sided: an update is a message of one word that the library adds to the table, on whichever process; 1024 are under way at most.
#pragma once

#include <mpi.h>

#include <vector>

#include "owners.hpp"

namespace random_access {

class Accumulate {
 public:
  void open(State& s) {
    MPI_Info wishes = MPI_INFO_NULL;
    MPI_Info_create(&wishes);
    MPI_Info_set(wishes, "accumulate_ordering", "none");
    MPI_Info_set(wishes, "accumulate_ops", "same_op");
    MPI_Win_create(s.table.data(), static_cast<MPI_Aint>(s.table.size()) * word_bytes, word_bytes, wishes, MPI_COMM_WORLD, &window_);
    MPI_Info_free(&wishes);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
    under_way_.resize(look_ahead);
    begins_.resize(static_cast<std::size_t>(s.team.ranks));
    for (int rank = 0; rank < s.team.ranks; ++rank) begins_[static_cast<std::size_t>(rank)] = fl::part_begin(s.words, s.team.ranks, rank);
  }

  void step(State& s, fl::Index) {
    const Owners owners(s);
    settle();  // the table was filled by stores
    fl::Index k = 0;
    each(share_of(s, s.team.rank, s.team.ranks), [&](Word a) {
      Word& update = under_way_[static_cast<std::size_t>(k)];
      update = a;
      const int owner = owners.of(a);
      const MPI_Aint place = static_cast<MPI_Aint>(owners.place(a) - begins_[static_cast<std::size_t>(owner)]);
      MPI_Accumulate(&update, 1, MPI_UINT64_T, owner, place, 1, MPI_UINT64_T, MPI_BXOR, window_);
      if (++k == look_ahead) {
        MPI_Win_flush_all(window_);
        k = 0;
      }
    });
    MPI_Win_flush_all(window_);
    settle();
  }

  void close(State&) {
    MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
  }

 private:
  static constexpr int word_bytes = sizeof(Word);

  // What this process stored is seen by the others, and what they have added by this one.
  void settle() const {
    MPI_Win_sync(window_);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(window_);
  }

  MPI_Win window_ = MPI_WIN_NULL;
  std::vector<Word> under_way_;
  std::vector<fl::Index> begins_;  // of each process's words
};

}  // namespace random_access
