// A format in processes: what rows need from others travels in every step.
#pragma once

#include <optional>

#include "../halo.hpp"
#include "csr.hpp"

namespace spmv {

template <class Format>
struct Processes {
  std::optional<sparse::Halo> halo;
  std::optional<Format> a;

  void open(State& s) {
    halo.emplace(s.matrix, s.own, s.team, s.own.size() + block);
    fl::Array<double> x(halo->size());  // with room for them behind the zeros
    std::copy_n(s.x.data(), s.x.size(), x.data());
    fl::poison(x.data() + s.x.size(), x.size() - s.x.size());
    s.x = std::move(x);
    a.emplace(Csr(s, [&](fl::Index c) { return halo->local(c); }));
  }
  void step(State& s, fl::Index) {
    halo->start(s.x.data());
    halo->finish(s.x.data());
    a->multiply(s.x.data(), s.y.data(), s.scale, {0, a->units()});
  }
  void close(State&) { halo.reset(); }
};

}  // namespace spmv
