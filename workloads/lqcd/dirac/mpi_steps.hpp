// The operators on several processes: a variant says in which order a hop and its exchange go.
#pragma once

#include <tuple>

#include "../faces.hpp"
#include "vector_steps.hpp"

namespace dirac {

// Sites in the order in which they are worked on: all, those that need no halo, those that do.
struct Order {
  std::vector<lqcd::Run> every, inside, edge;
};

// What a process has beside its state. Only the precision at hand has buffers.
class Process {
 public:
  void open(const State& s) {
    const auto bytes = static_cast<std::size_t>(s.bits / 8);
    for (int targets = lqcd::even; targets <= lqcd::both; ++targets)
      orders_[targets - 1] = {lqcd::runs(s.layout, targets, lqcd::everything, bytes), lqcd::runs(s.layout, targets, lqcd::interior, bytes),
                              lqcd::runs(s.layout, targets, lqcd::boundary, bytes)};
    if (!is_operator(s.op)) return;
    if (s.bits == 32)
      faces<float>().open(s.layout, s.grid, s.team.rank);
    else
      faces<double>().open(s.layout, s.grid, s.team.rank);
  }
  void close() {
    faces<float>().close();
    faces<double>().close();
  }
  template <class T>
  lqcd::Faces<T>& faces() {
    return std::get<lqcd::Faces<T>>(faces_);
  }
  const Order& order(int targets) const { return orders_[targets - 1]; }

 private:
  std::tuple<lqcd::Faces<float>, lqcd::Faces<double>> faces_;
  Order orders_[3];
};

// hop(job, faces, order, targets, std::bool_constant<whether there is a centre>()) sets the sites of those parities.
template <class T, class HopAndExchange>
void exchanged(Process& process, State& s, Arrays<T>& a, HopAndExchange hop) {
  lqcd::Faces<T>& faces = process.faces<T>();
  const auto on = [&](lqcd::Hop<T> job, int targets, auto with_centre) {
    job.halo = faces.halo;
    hop(job, faces, process.order(targets), targets, with_centre);
  };
  if (s.op == Op::d) return on(job_of_d(s, a), lqcd::both, std::true_type());
  on(job_to_odd(s, a), lqcd::odd, std::false_type());
  on(job_to_even(s, a), lqcd::even, std::true_type());
}

inline void sum_over_processes(Complex& sum) { MPI_Allreduce(MPI_IN_PLACE, &sum, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }

// The linear algebra of one thread; it needs no exchange, only a sum.
template <class T>
void linear_algebra(State& s, Arrays<T>& a) {
  const Part all;
  if (s.op == Op::axpy) return axpy_part(s, a, all);
  s.sum = s.scale * (s.op == Op::dot ? dot_part(a, all) : norm_part(a, all));
}

template <class HopAndExchange>
void mpi_step(Process& process, State& s, HopAndExchange hop) {
  in_precision(s, [&](auto& a) {
    if (is_operator(s.op)) return exchanged(process, s, a, hop);
    linear_algebra(s, a);
    if (s.op != Op::axpy) sum_over_processes(s.sum);
  });
}

// A list of runs in some pieces, with a look at the messages after each.
inline constexpr fl::Index pieces = 8;

template <bool with_centre, class T, class Poke>
void hop_in_pieces(const lqcd::Hop<T>& job, const std::vector<lqcd::Run>& list, Poke poke) {
  for (int piece = 0; piece < pieces; ++piece) {
    hop_part<with_centre>(job, list, {piece, pieces});
    poke();
  }
}

}  // namespace dirac
