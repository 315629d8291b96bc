// The tiles of one core, as plain loops.
#pragma once

#include "tensor.hpp"

namespace tensor {

template <class T>
void run(State& s, std::uint32_t shift, int laps_to_run) {
  const int rows = tile(s.format).rows, depth = tile(s.format).depth;
  std::vector<T> a(static_cast<std::size_t>(rows * depth)), other(a.size()), b(static_cast<std::size_t>(depth * width));
  std::vector<T> c(static_cast<std::size_t>(rows * width));
  const auto at = [](int i, int k, int length) { return static_cast<std::size_t>(i * length + k); };
  for (int k = 0; k < depth; ++k)
    for (int j = 0; j < width; ++j) b[at(k, j, width)] = static_cast<T>(b_value(k, j));
  for (float& sum : s.out) sum = 0;
  const auto add_product = [&](const std::vector<T>& left) {
    for (int i = 0; i < rows; ++i)
      for (int k = 0; k < depth; ++k)
        for (int j = 0; j < width; ++j) c[at(i, j, width)] += left[at(i, k, depth)] * b[at(k, j, width)];
  };
  for (int lap = 0; lap < laps_to_run; ++lap) {
    for (int i = 0; i < rows; ++i)
      for (int k = 0; k < depth; ++k) {
        a[at(i, k, depth)] = static_cast<T>(a_value(0, i, k));
        other[at(i, k, depth)] = static_cast<T>(e_value(0, i, k, shift_of_lap(shift, lap)) - a_value(0, i, k));
      }
    for (T& number : c) number = 0;
    for (int pair = 0; pair < pairs; ++pair) {
      add_product(a);
      add_product(other);
    }
    for (fl::Index k = 0; k < s.out.size(); ++k) s.out[k] += static_cast<float>(c[static_cast<std::size_t>(k)]);
  }
}

inline void run(State& s, std::uint32_t shift, int laps_to_run = laps) {
  if (s.format == Format::fp64)
    run<double>(s, shift, laps_to_run);
  else
    run<float>(s, shift, laps_to_run);
}

}  // namespace tensor
