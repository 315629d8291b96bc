// The halos of one of several processes.
#pragma once

#include "firstlight/grid/exchange.hpp"
#include "firstlight/grid/mpi.hpp"
#include "update.hpp"

namespace fdtd2d {

struct Exchanged {
  grid::Exchange<2, grid::Mpi> h, e;

  void open(State& s) {
    in_precision(s, [&](auto& a) {
      h.open(s.block, {.reach = grid::Reach::faces}, {}, a.hx, a.hy);
      e.open(s.block, {.reach = grid::Reach::faces}, {}, a.ez);
    });
  }

  // Before E is swept, and before H is.
  template <class T, class Team>
  void of_h(const Job<T>&, const Team& team) {
    h(team);
  }
  template <class T, class Team>
  void of_e(const Job<T>&, const Team& team) {
    e(team);
  }
};

}  // namespace fdtd2d
