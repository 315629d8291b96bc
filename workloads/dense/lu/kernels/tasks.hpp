// Runs tile columns as OpenMP tasks with dependences on columns: a panel waits for all that was done to its column, an update for its panel
// and for the panels before. The runtime decides which thread runs which task when; what is done to a column is as in scheduler.hpp.
#pragma once

#include <omp.h>

#include "hands.hpp"
#include "tiles.hpp"

namespace lu {

template <template <class> class Pivoting, class Product>
struct Tasks {
  std::unique_ptr<Tiles<Pivoting, Product>> tiles;
  std::vector<char> columns;  // a place in memory for each, by which tasks name it

  void open(State& s) {
    tiles = std::make_unique<Tiles<Pivoting, Product>>(s, s.team.threads);
    columns.resize(static_cast<std::size_t>(tiles->columns()));
  }
  void step(State& s, Index) {
    tiles->start();
    Hands hands(s);
#pragma omp parallel num_threads(s.team.threads)
#pragma omp single
    make(&hands);
    solve_upper(s, Dealt{s.team.threads});
  }

 private:
  // Panel after panel, of each the next column first: the runtime begins about in this order.
  void make(Hands* hands) {
    char* column = columns.data();
    for (Index k = 0; k < tiles->count(); ++k) {
#pragma omp task depend(inout : column[k])
      in_hand(*hands, k, k);
      for (Index j = k + 1; j < tiles->columns(); ++j) {
#pragma omp task depend(in : column[k]) depend(inout : column[j])
        in_hand(*hands, j, k);
      }
    }
  }
  void in_hand(Hands& hands, Index j, Index k) {
    const int thread = omp_get_thread_num();  // a task without others in it stays with its thread
    hands.take(thread);
    hands.hold(thread, j, k == j, [&] { k == j ? tiles->factor(j, thread) : tiles->update(j, k, thread); });
  }
};

}  // namespace lu
