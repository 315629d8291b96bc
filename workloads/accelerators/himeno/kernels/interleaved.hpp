// Coefficients line by line: sixteen points of a[0], the same points of a[1], and so on. Eleven streams become one.
#pragma once

#include "vectors.hpp"

namespace himeno {

// All but wrk1, which is another one in every run. Filled from the benchmark's arrays outside of the time of a step.
class Interleaved {
 public:
  static constexpr Index points = 16, arrays = 11, line = arrays * points;

  void allocate(const State& s) { memory_ = fl::Array<float>(s.bnd.layout().elements * arrays); }

  // Those of the rows of a box.
  void fill(const State& s, const grid::Box<3>& box) {
    const Field* fields[arrays] = {&s.a[0], &s.a[1], &s.a[2], &s.a[3], &s.b[0], &s.b[1], &s.b[2], &s.c[0], &s.c[1], &s.c[2], &s.bnd};
    const auto layout = s.bnd.layout();
    grid::each_row(box, [&](const Point& x, Index) {
      float* to = memory_.data() + layout.distance(x) * arrays;
      for (Index k = 0; k < layout.pitch; k += points, to += line)
        for (Index m = 0; m < arrays; ++m) std::copy_n(fields[m]->view().origin + layout.distance(x) + k, points, to + m * points);
    });
  }

  // Where point k of a row is, from its first one on.
  static Index offset(Index k) {
    const auto point = static_cast<std::uint64_t>(k);
    return static_cast<Index>(point / points * line + point % points);
  }
  const float* at(Index element) const { return memory_.data() + offset(element); }

 private:
  fl::Array<float> memory_;
};

// A row that begins with a block's first point.
template <Store kind>
struct Lines {
  const Interleaved& lines;

  double operator()(const Row& row) const {
    constexpr Index n = Interleaved::points;
    const Streams streams(row);
    const float* first = lines.at(row.at);
    const auto ss_at = [&](Index k) __attribute__((always_inline)) {
      const float* from = first + Interleaved::offset(k);
      for (Index m = 0; m < Interleaved::arrays; ++m) prefetch(from + ahead * Interleaved::arrays + m * n);
      prefetch(streams.in.wrk1 + k + ahead);
      prefetch(streams.p[2][2] + k + ahead);
      const Coefficients in{{from, from + n, from + 2 * n, from + 3 * n},
                            {from + 4 * n, from + 5 * n, from + 6 * n},
                            {from + 7 * n, from + 8 * n, from + 9 * n},
                            from + 10 * n,
                            streams.in.wrk1 + k};
      return streams.residual<Vector>(k, Load{}, in, 0);
    };
    return by_vectors<kind>(row, ss_at);
  }
};

}  // namespace himeno
