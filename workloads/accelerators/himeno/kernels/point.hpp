// One point of the benchmark: one body for processors and devices, for numbers and for vectors of them.
#pragma once

#include "firstlight/host_device.hpp"
#include "firstlight/split.hpp"

namespace himeno {

using fl::Index;

inline constexpr float omega = 0.8f;

// Addresses of inner point (0, 0, 0) of what does not change in a run; one layout for all of it.
struct Coefficients {
  const float *a[4], *b[3], *c[3], *bnd, *wrk1;
};

// ss of the point that is element `at` of the coefficients; p(di, dj, dk) is its value or a neighbour's, read(address) a number or a
// vector. The operations are in the benchmark's order, 30 of its 34; two more are the sum of ss * ss, and two p + omega * ss.
template <class T, class Read, class P>
FL_DEVICE T residual(const Coefficients& in, Index at, const Read& read, const P& p) {
  const T s0 = read(in.a[0] + at) * p(1, 0, 0) + read(in.a[1] + at) * p(0, 1, 0) + read(in.a[2] + at) * p(0, 0, 1) +
               read(in.b[0] + at) * (p(1, 1, 0) - p(1, -1, 0) - p(-1, 1, 0) + p(-1, -1, 0)) +
               read(in.b[1] + at) * (p(0, 1, 1) - p(0, -1, 1) - p(0, 1, -1) + p(0, -1, -1)) +
               read(in.b[2] + at) * (p(1, 0, 1) - p(-1, 0, 1) - p(1, 0, -1) + p(-1, 0, -1)) + read(in.c[0] + at) * p(-1, 0, 0) +
               read(in.c[1] + at) * p(0, -1, 0) + read(in.c[2] + at) * p(0, 0, -1) + read(in.wrk1 + at);
  return (s0 * read(in.a[3] + at) - p(0, 0, 0)) * read(in.bnd + at);
}

// p around a point in memory, strides in elements.
template <class T, class Read>
struct Around {
  const float* centre;
  Index stride_i, stride_j;
  Read read;

  FL_DEVICE T operator()(int i, int j, int k) const { return read(centre + i * stride_i + j * stride_j + k); }
};

// The same from the addresses of the nine rows around a row, [1][1] being its own.
template <class T, class Read>
struct Among {
  const float* const (*rows)[3];
  Index k;
  Read read;

  FL_DEVICE T operator()(int i, int j, int along) const { return read(rows[i + 1][j + 1] + k + along); }
};

struct Number {
  FL_DEVICE float operator()(const float* from) const { return *from; }
};

}  // namespace himeno
