// A window of MPI: memory of each rank that the others put into and get from, or that the ranks of a node share.
#pragma once

#include <mpi.h>

#include "firstlight/await.hpp"
#include "firstlight/lines.hpp"
#include "firstlight/role.hpp"
#include "firstlight/workload.hpp"

namespace fl::inline FL_ROLE {

class Window {
 public:
  // `bytes` of each rank's. In whole pairs of lines: the parts are side by side, and MPICH 4.0 loses puts into parts of an odd number
  // of words. Collective over the communicator, whose ranks parts are known by; ends the job where the library keeps two copies of a
  // window (its memory model is separate).
  void open(Index bytes, bool shared, MPI_Comm communicator = MPI_COMM_WORLD) {
    bytes_ = whole_pairs(bytes);
    communicator_ = communicator;
    MPI_Info wishes = MPI_INFO_NULL;
    MPI_Info_create(&wishes);
    MPI_Info_set(wishes, "mpi_minimum_memory_alignment", "128");
    if (shared)
      MPI_Win_allocate_shared(bytes_, 1, wishes, communicator, &memory_, &window_);
    else
      MPI_Win_allocate(bytes_, 1, wishes, communicator, &memory_, &window_);
    MPI_Info_free(&wishes);
    need_unified();
  }

  void close() { MPI_Win_free(&window_); }

  MPI_Win handle() const { return window_; }
  unsigned char* memory() const { return memory_; }

  // A second window on the same memory.
  MPI_Win again() const {
    MPI_Win window = MPI_WIN_NULL;
    MPI_Win_create(memory_, bytes_, 1, MPI_INFO_NULL, communicator_, &window);
    return window;
  }

  // Another rank's part of a shared window.
  unsigned char* part_of(int rank) const {
    MPI_Aint bytes = 0;
    int unit = 0;
    unsigned char* theirs = nullptr;
    MPI_Win_shared_query(window_, rank, &bytes, &unit, &theirs);
    return theirs;
  }

 private:
  void need_unified() const {
    int* model = nullptr;
    int found = 0;
    MPI_Win_get_attr(window_, MPI_WIN_MODEL, &model, &found);
    if (found != 0 && *model == MPI_WIN_UNIFIED) return;
    abort_all("this MPI library has no unified memory model, which this variant requires; choose another with --mpi");
  }

  MPI_Win window_ = MPI_WIN_NULL;
  MPI_Comm communicator_ = MPI_COMM_WORLD;
  unsigned char* memory_ = nullptr;
  MPI_Aint bytes_ = 0;
};

// Until another rank has put `number` into this rank's memory. In the unified memory model a put becomes visible by itself; a library
// that moves data in software is given its turn now and then.
inline void await_put(std::uint64_t* flag, std::uint64_t number) {
  await(flag, number, [] {
    int found = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
  });
}

}  // namespace fl::inline FL_ROLE
