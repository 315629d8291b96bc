// The operators on several processes: a variant defines in which order a hop and its exchange go.
#pragma once

#include <tuple>

#include "../exchanged_hop.hpp"
#include "vector_steps.hpp"

namespace dirac {

using lqcd::hop_in_pieces;
using lqcd::Order;

// What a process has in addition to its state. Only the precision at hand has buffers.
class Process {
 public:
  void open(const State& s, lqcd::Mpi::Requests requests = lqcd::Mpi::Requests::fresh) {
    const std::size_t bytes = lqcd::bytes_in_order(s.team.threads, static_cast<std::size_t>(s.bits / 8));
    for (int targets = lqcd::even; targets <= lqcd::both; ++targets) orders_[targets - 1] = Order(s.layout, targets, bytes);
    if (!is_operator(s.op)) return;
    if (s.bits == 32)
      faces<float>().open(s.layout, requests);
    else
      faces<double>().open(s.layout, requests);
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

// A variant's object has it.
struct OnProcesses {
  Process process;

  void open(State& s) { process.open(s); }
  void close(State&) { process.close(); }
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

inline void sum_over_processes(Complex& sum) {
  double parts[2] = {sum.re, sum.im};
  lqcd::sum_over_processes(parts, 2);
  sum = {parts[0], parts[1]};
}

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

}  // namespace dirac
