// A run by directives on one device: `Machine` has memory there (copies.hpp) and the loops, run(state, job).
#pragma once

#include <tuple>

#include "copies.hpp"
#include "update.hpp"

namespace fdtd2d::inline FL_ROLE {

template <class Machine>
struct ByDirectives {
  std::tuple<Copies<Machine, float>, Copies<Machine, double>> copies;

  template <class T>
  Copies<Machine, T>& of(const Numbers<T>&) {
    return std::get<Copies<Machine, T>>(copies);
  }

  void open(State& s) {
    in_precision(s, [&](auto& a) { of(a).open(a, false); });
    s.upload = [this, &s] { in_precision(s, [&](auto& a) { of(a).upload(); }); };
    s.download = [this, &s] { in_precision(s, [&](auto& a) { of(a).download(a, 0); }); };
  }
  void step(State& s, Index) {
    in_precision(s, [&](auto& a) { Machine::run(s, job_of(s, a, of(a).set(0))); });
  }
};

// Of a grid that is its own neighbour, where a loop sees to it: line k of the halos that E needs of H, and of the one that H needs of E.
template <class T>
FL_DEVICE void around_h(const Job<T>& job, Index k) {
  if (k < job.columns) job.hy(-1, k) = job.hy(job.rows - 1, k);
  if (k < job.rows) job.hx(k, -1) = job.hx(k, job.columns - 1);
}
template <class T>
FL_DEVICE void around_e(const Job<T>& job, Index k) {
  if (k < job.columns) job.ez(job.rows, k) = job.ez(0, k);
  if (k < job.rows) job.ez(k, job.columns) = job.ez(k, 0);
}

}  // namespace fdtd2d::inline FL_ROLE
