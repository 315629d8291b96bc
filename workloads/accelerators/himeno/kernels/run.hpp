// Sweeps on processors: row after row of a box, the row's body being the variant's.
#pragma once

#include <utility>

#include "himeno.hpp"
#include "point.hpp"

namespace himeno {

inline Coefficients coefficients(const State& s) {
  const auto origin = [](const Field& field) { return field.view().origin; };
  return {{origin(s.a[0]), origin(s.a[1]), origin(s.a[2]), origin(s.a[3])},
          {origin(s.b[0]), origin(s.b[1]), origin(s.b[2])},
          {origin(s.c[0]), origin(s.c[1]), origin(s.c[2])},
          origin(s.bnd),
          origin(s.wrk1)};
}

// `count` points along k: element `at` of the coefficients and onwards, and their p before and after a sweep.
struct Row {
  const Coefficients& in;
  Index at;
  const float* p;
  Index stride_i, stride_j;  // of p
  float* next;
  Index count;
};

// One sweep over a box of inner points, from s.p to s.next; `body(row)` returns the sum of ss * ss of a row, and so does it of the box.
template <class Body>
double sweep(State& s, const grid::Box<3>& box, Body body) {
  const Coefficients in = coefficients(s);
  const auto layout = s.bnd.layout();
  const auto from = std::as_const(s.p).view();
  const auto to = s.next.view();
  double sum = 0;
  grid::each_row(box, [&](const grid::Point<3>& x, Index count) {
    sum += body(Row{in, layout.distance(x), &from(x[0], x[1], x[2]), from.stride[0], from.stride[1], &to(x[0], x[1], x[2]), count});
  });
  return sum;
}

// What a loop over a row reads, as addresses that its index is added to: twelve of coefficients and nine of p.
struct Streams {
  Coefficients in;
  const float* p[3][3];

  explicit Streams(const Row& row) : in(row.in) {
    for (const float** array :
         {&in.a[0], &in.a[1], &in.a[2], &in.a[3], &in.b[0], &in.b[1], &in.b[2], &in.c[0], &in.c[1], &in.c[2], &in.bnd, &in.wrk1})
      *array += row.at;
    for (Index i = 0; i < 3; ++i)
      for (Index j = 0; j < 3; ++j) p[i][j] = row.p + (i - 1) * row.stride_i + (j - 1) * row.stride_j;
  }

  // ss of point k, or of a vector of points, with element `at` of these coefficients.
  template <class T, class Read>
  [[gnu::always_inline]] T residual(Index k, const Read& read, const Coefficients& of, Index at) const {
    return himeno::residual<T>(of, at, read, Among<T, Read>{p, k, read});
  }
  template <class T, class Read>
  [[gnu::always_inline]] T residual(Index k, const Read& read) const {
    return residual<T>(k, read, in, k);
  }
};

// The row as the benchmark writes it, except for the sum, which is of double precision.
struct Plain {
  double operator()(const Row& row) const {
    const Streams streams(row);
    double sum = 0;
    for (Index k = 0; k < row.count; ++k) {
      const float ss = streams.residual<float>(k, Number{});
      sum += static_cast<double>(ss) * static_cast<double>(ss);
      row.next[k] = row.p[k] + omega * ss;
    }
    return sum;
  }
};

// All sweeps of a run by one thread.
template <class Body>
void run(State& s, Body body) {
  for (Index t = 0; t < s.params.sweeps; ++t, std::swap(s.p, s.next)) s.gosa = sweep(s, s.block.cells(), body);
}

}  // namespace himeno
