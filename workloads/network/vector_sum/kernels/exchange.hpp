// MPI's calls with the arguments that the routes share: parts of vectors, and the vector cut into pieces.
#pragma once

#include <mpi.h>

#include <algorithm>

#include "firstlight/simd.hpp"
#include "firstlight/split.hpp"
#include "vector_sum.hpp"

namespace vector_sum {

// The local half of a global sum: to[i] = a[i] + b[i], with vectors as wide as the flags under test allow.
// `to` may be `a` or `b` itself.
inline void add(double* to, const double* a, const double* b, fl::Index n) {
  using Vector = fl::simd::native<double>;
  constexpr int width = fl::simd::width<double>, unrolled = 4, block = unrolled * width;
  fl::Index i = 0;
  for (; i + block < n; i += block)
    fl::simd::unroll<unrolled>([&](auto k) {
      const fl::Index at = i + k * width;
      fl::simd::store(to + at, fl::simd::load<Vector>(a + at) + fl::simd::load<Vector>(b + at));
    });
  fl::simd::rest<block>(i, n, [&](fl::Index j) { to[j] = a[j] + b[j]; });
}

// Empty parts of a vector travel too: which are empty depends on n and p alone, and both ends keep the same order.
using fl::Part;

// The pieces `first` to `last`, exclusive, as one part.
inline Part span(fl::Index n, int pieces, int first, int last) {
  return {fl::part_begin(n, pieces, first), fl::part_begin(n, pieces, last)};
}

inline void send(const double* from, fl::Index count, int to) {
  MPI_Send(from, static_cast<int>(count), MPI_DOUBLE, to, 0, MPI_COMM_WORLD);
}

inline void receive(double* into, fl::Index count, int from) {
  MPI_Recv(into, static_cast<int>(count), MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// Sends to one and receives from another (or the same) at the same time: no order of ranks can deadlock.
inline void exchange(const double* out, fl::Index out_count, int to, double* in, fl::Index in_count, int from) {
  MPI_Sendrecv(out, static_cast<int>(out_count), MPI_DOUBLE, to, 0, in, static_cast<int>(in_count), MPI_DOUBLE, from, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}

// A step that needs room for a whole vector.
struct WholeBuffer {
  void open(State& s) { s.buffer = fl::Array<double>(s.n); }
};

inline void copy(State& s) { std::copy(s.own.data(), s.own.data() + s.n, s.result.data()); }

// R1's Cube_DoD: in every dimension below p, the whole vector to the neighbour, the neighbour's to the own one.
inline void cube(State& s, int dimensions_end) {
  const double* mine = s.own.data();
  for (int bit = 1; bit < dimensions_end; bit <<= 1) {
    const int peer = s.team.rank ^ bit;
    exchange(mine, s.n, peer, s.buffer.data(), s.n, peer);
    add(s.result.data(), mine, s.buffer.data(), s.n);
    mine = s.result.data();
  }
  if (mine == s.own.data()) copy(s);
}

}  // namespace vector_sum
