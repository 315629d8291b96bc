// One process: the whole of it as one line.
#pragma once

#include <optional>

#include "fft.hpp"

namespace fft {

template <class Fourier>
struct Whole {
  std::optional<Fourier> fourier;

  void open(State& s) { fourier.emplace(s.p.n); }
  void step(State& s, Index) {
    const fl::In in(phases("transforms"));
    std::copy(s.in.begin(), s.in.end(), fourier->in.begin());
    fourier->forward();
    if (s.p.task == Task::forward) {
      std::copy(fourier->out.begin(), fourier->out.end(), s.out.begin());
      return;
    }
    std::copy(fourier->out.begin(), fourier->out.end(), fourier->in.begin());
    fourier->backward();
    const double factor = 1 / static_cast<double>(s.p.n);
    for (Index j = 0; j < s.p.n; ++j) s.out[j] = factor * fourier->out[static_cast<std::size_t>(j)];
  }
};

}  // namespace fft
