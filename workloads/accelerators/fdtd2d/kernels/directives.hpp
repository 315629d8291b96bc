// A run by directives on one device: `Machine` has memory there (copies.hpp) and the loops, run(state, job).
#pragma once

#include <tuple>

#include "copies.hpp"
#include "update.hpp"

namespace fdtd2d {

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

}  // namespace fdtd2d
