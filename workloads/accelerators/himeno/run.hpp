// Sweeps on processors: row after row of a box, the row's body being the variant's.
#pragma once

#include <utility>

#include "himeno.hpp"
#include "point.hpp"

namespace himeno::inline FL_ROLE {

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

// The row as the benchmark writes it, but for the sum, which is of double precision.
struct Plain {
  double operator()(const Row& row) const {
    double sum = 0;
    for (Index k = 0; k < row.count; ++k) {
      const Around<float, Number> p{row.p + k, row.stride_i, row.stride_j, {}};
      const float ss = residual<float>(row.in, row.at + k, Number{}, p);
      sum += static_cast<double>(ss) * static_cast<double>(ss);
      row.next[k] = p(0, 0, 0) + omega * ss;
    }
    return sum;
  }
};

}  // namespace himeno::inline FL_ROLE
