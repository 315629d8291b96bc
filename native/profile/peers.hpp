// Who a rank in a communicator or window is in MPI_COMM_WORLD, and who the neighbours in a topology are.
#pragma once

#include "state.hpp"

namespace fl {

// What is known of a communicator or window. Ranks are translated one at a time, so memory grows with the peers only.
struct Group {
  std::uint64_t handle = 0;
  int rank = 0, size = 0, peers = 0;  // own rank; processes on this side; processes that a rank names (the other side)
  bool inter = false;
  bool same = false;  // ranks are those of MPI_COMM_WORLD
  bool alive = true;
  MPI_Group group{};
  std::atomic<int> neighbours{-1};  // -1: not requested yet; else the list below is complete, whichever thread requested it
  int* neighbour = nullptr;
  Group* next = nullptr;
};

// A handle is an int in one MPI library (the same type for communicators and windows) and a pointer in another.
template <class Handle>
std::uint64_t number(Handle handle) {
  return (std::uint64_t)(handle);  // NOLINT
}

Group& group_of(MPI_Comm comm);
Group& window_group(MPI_Win win);
int translated(Group& group, int rank);
int neighbours_of(Group& group, MPI_Comm comm);  // how many; from then on group.neighbour lists them
void prepare_groups();                           // after MPI_Init

// The pair of a rank in the communicator or window that `group` describes; nullptr for MPI_PROC_NULL. One comparison when it
// was requested lately.
template <auto group, class Handle>
Pair* pair_of(Table& table, Handle handle, int rank, Way way) {
  if (rank < 0) return nullptr;
  const std::uint64_t key = number(handle);
  const std::uint32_t generation = state.generation.load(std::memory_order_relaxed);
  const auto place = (static_cast<std::uint32_t>(key >> 4) + static_cast<std::uint32_t>(key) * 7 + static_cast<std::uint32_t>(rank) * 2 +
                      static_cast<std::uint32_t>(way)) %
                     slots_of_thread;
  Slot& slot = self->slots[place];
  if (slot.handle == key && slot.rank == rank && slot.way == way && slot.generation == generation) [[likely]]
    return slot.pair;
  Pair& pair = table.pair(translated(group(handle), rank), way);
  slot = Slot{key, rank, way, generation, &pair};
  return &pair;
}

inline Pair* pair_in(Table& table, MPI_Comm comm, int rank) { return pair_of<group_of>(table, comm, rank, Way::out); }
inline Pair* pair_in_window(Table& table, MPI_Win win, int rank, Way way) { return pair_of<window_group>(table, win, rank, way); }

}  // namespace fl
