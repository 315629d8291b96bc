// One process: the whole of it as one line.
#pragma once

#include <concepts>
#include <optional>

#include "fft.hpp"

namespace fft {

template <class Fourier>
struct Whole {
  std::optional<Fourier> fourier;

  void open(State& s) {
    if constexpr (std::constructible_from<Fourier, Index, bool>)
      fourier.emplace(s.p.n, s.p.task != Task::forward);
    else
      fourier.emplace(s.p.n);
  }
  void step(State& s, Index) {
    const fl::In in(phases("transforms"));
    if (s.p.task == Task::forward) return fourier->forward(s.in.data(), s.out.data());
    fourier->forward(s.in.data(), fourier->in.data());
    fourier->backward(fourier->in.data(), s.out.data());
    const double factor = 1 / static_cast<double>(s.p.n);
    for (Index j = 0; j < s.p.n; ++j) s.out[j] *= factor;
  }
};

}  // namespace fft
