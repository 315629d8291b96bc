// Halos between the devices of several ranks.
#pragma once

#include "../device_exchange.hpp"
#include "firstlight/grid/mpi.hpp"
#include "himeno.hpp"

namespace himeno::device {

template <class Machine>
class OnRanks {
 public:
  void open(const State& s) { exchange_.open(s.block, grid::Reach::edges, s.p); }
  void start(const grid::View<float, 3>& p) { exchange_.start({p}); }
  void send() { exchange_.send(); }
  void finish() { exchange_.finish(); }
  double over_ranks(double mine) {
    MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return mine;
  }

 private:
  accelerators::DeviceExchange<float, 3, Machine, grid::Mpi> exchange_;
};

}  // namespace himeno::device
