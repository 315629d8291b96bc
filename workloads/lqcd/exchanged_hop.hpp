// The hopping term of virtual_nodes.hpp on the blocks of several processes: sites that need no halo are worked on while the half spinors
// of the others are under way.
#pragma once

#include "algebra.hpp"
#include "faces.hpp"

namespace lqcd {

// Sites in the order in which they are worked on: all, those that need no halo, those that do.
struct Order {
  std::vector<Run> every, inside, edge;

  Order() = default;
  Order(const Layout& layout, int targets, std::size_t number_bytes)
      : every(runs(layout, targets, everything, number_bytes)),
        inside(runs(layout, targets, interior, number_bytes)),
        edge(runs(layout, targets, boundary, number_bytes)) {}
};

// A list of runs in some pieces, with a look at the messages after each.
template <bool with_centre, class T, class Poke>
void hop_in_pieces(const Hop<T>& job, const std::vector<Run>& list, Poke poke) {
  constexpr std::size_t pieces = 8;
  for (std::size_t piece = 0; piece < pieces; ++piece) {
    hop<with_centre>(job, list.data() + list.size() * piece / pieces, list.data() + list.size() * (piece + 1) / pieces);
    poke();
  }
}

template <bool with_centre, class T>
void overlapped(const Hop<T>& job, Faces<T>& faces, const Order& order, int targets) {
  faces.receive(targets);
  faces.pack(job, targets);
  faces.send(targets);
  hop_in_pieces<with_centre>(job, order.inside, [&] { faces.poke(targets); });
  faces.wait(targets);
  hop<with_centre>(job, order.edge);
}

inline void sum_over_processes(double* sums, int count) { MPI_Allreduce(MPI_IN_PLACE, sums, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }

// For a solver, as VectorHop.
template <class T>
class ExchangedHop {
 public:
  static constexpr int lanes = lqcd::lanes<T>;
  static constexpr Reduce reduce = sum_over_processes;

  ExchangedHop(const Layout& layout, int) : layout_(layout) {
    for (int p = 0; p < 2; ++p) orders_[p] = Order(layout, 1 << p, sizeof(T));
    faces_.open(layout);
  }

  void apply(int target, const T* links, const T* psi, const T* centre, T* out, T a, T b) {
    const Hop<T> job{&layout_, links, {psi, psi}, {centre, centre}, {out, out}, faces_.halo, a, b};
    if (centre == nullptr)
      overlapped<false>(job, faces_, orders_[target], 1 << target);
    else
      overlapped<true>(job, faces_, orders_[target], 1 << target);
  }

 private:
  const Layout& layout_;
  Order orders_[2];
  Faces<T> faces_;
};

}  // namespace lqcd
