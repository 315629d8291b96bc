// Who works on the rows of a block where others have other blocks: `Team` within the process, messages between them. What a solver does in
// order of the rows it does within each block.
#pragma once

#include "alone.hpp"
#include "firstlight/grid/exchange.hpp"
#include "firstlight/grid/mpi.hpp"

namespace cfd::inline FL_ROLE {

template <class Team = Alone>
struct Ranks : Team {
  grid::Exchange<3, grid::Mpi> halo;

  template <class... Fields>
  void open(const grid::Block<3>& block, int threads, Fields&... halos) {
    Team::open(block, threads, halos...);
    halo.open(block, {.reach = grid::Reach::faces}, {.requests = grid::Mpi::Requests::persistent}, halos...);
  }
  void exchange() { halo(); }
  Sums total(const Sums& mine) {
    double both[2] = {mine.first, mine.second};
    MPI_Allreduce(MPI_IN_PLACE, both, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return {both[0], both[1]};
  }
};

// Halos travel while solvers compute the cells that need none, where the order of cells is free.
struct Overlapping : Ranks<> {
  grid::Split<3> split;

  template <class... Fields>
  void open(const grid::Block<3>& block, int threads, Fields&... halos) {
    Ranks::open(block, threads, halos...);
    split = grid::split(block, {1, 1, 1});
  }
  void start() { halo.start(); }
  void finish() { halo.finish(); }
};

}  // namespace cfd::inline FL_ROLE
