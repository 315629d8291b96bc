// Who works on the rows of a block where others have other blocks: `Team` within the process, messages between them. What a solver does in
// order of the rows it does within each block.
#pragma once

#include "alone.hpp"
#include "firstlight/grid/exchange.hpp"
#include "firstlight/grid/mpi.hpp"

namespace cfd {

// Exchanges the halos of fields of a block.
struct RanksHalo : grid::Exchange<3, grid::Mpi> {
  template <class... Fields>
  void open(const grid::Block<3>& block, grid::Reach reach, Fields&... fields) {
    Exchange::open(block, {.reach = reach}, {.requests = grid::Mpi::Requests::persistent}, fields...);
  }
};

// All processes get the whole of a grid of which each has a part.
template <class Real>
class RanksGather {
 public:
  // boxes: the parts, by rank, some of them perhaps empty.
  void open(const std::vector<grid::Box<3>>& boxes, int rank) {
    boxes_ = boxes;
    rank_ = static_cast<std::size_t>(rank);
    Index all = 0;
    for (const grid::Box<3>& box : boxes) {
      starts_.push_back(static_cast<int>(all * sizeof(Real)));
      counts_.push_back(static_cast<int>(box.cells() * sizeof(Real)));
      all += box.cells();
    }
    all_.resize(static_cast<std::size_t>(all));
  }
  void operator()(const FieldOf<Real>& part, FieldOf<Real>& whole) {
    Real* to = all_.data() + static_cast<std::size_t>(starts_[rank_]) / sizeof(Real);
    grid::each_row(part.layout().owned(), [&](const Point& x, Index n) { to = std::copy_n(&part[x], n, to); });
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_BYTE, all_.data(), counts_.data(), starts_.data(), MPI_BYTE, MPI_COMM_WORLD);
    const Real* from = all_.data();
    for (const grid::Box<3>& box : boxes_)
      grid::each_row(box, [&](const Point& x, Index n) { std::copy_n(from, n, &whole[x]), from += n; });
  }

 private:
  std::vector<grid::Box<3>> boxes_;
  std::size_t rank_ = 0;
  std::vector<int> counts_, starts_;  // bytes
  std::vector<Real> all_;
};

template <class Team = Alone>
struct Ranks : Team {
  using Halo = RanksHalo;
  template <class Real>
  using Gather = RanksGather<Real>;
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

}  // namespace cfd
