// One thread: there is no other to wait for.
#pragma once

#include <optional>

#include "solver.hpp"

namespace cg {

struct Alone {
  const Rows& a;
  const Sweeps& sweeps;
  fl::Part own;

  void multiply(const double* x, double* y) const {
    const fl::In in(phases("products"));
    a.multiply(x, y, own);
  }
  void precondition(const double* r, double* z) const { sweeps.apply(r, z, own); }
  void start(double*, int) const {}
  void finish() const {}
};

template <class Party = Alone, template <class> class Taken = Solver>
struct OneThread {
  std::optional<Rows> a;
  std::optional<Sweeps> sweeps;
  std::optional<Vectors> vectors;

  void open(State& s) {
    a.emplace(s.matrix, s.own, [](fl::Index, fl::Index) { return true; }, [](fl::Index c) { return c; });
    sweeps.emplace(s, 1);
    vectors.emplace(cg::vectors(s.p), s.own.size());
  }
  void step(State& s, fl::Index) {
    const fl::In in(phases("iterations"));
    Party party{*a, *sweeps, {0, s.own.size()}};
    s.outcome = Taken<Party>(s, party, *vectors).solve();
  }
};

}  // namespace cg
