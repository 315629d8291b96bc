// A row in explicit vectors.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "run.hpp"

#include "firstlight/nontemporal.hpp"
#include "firstlight/simd.hpp"

namespace himeno {

using Vector = fl::simd::native<float>;
inline constexpr int width = fl::simd::width<float>;

struct Load {
  Vector operator()(const float* from) const { return fl::simd::load<Vector>(from); }
};

enum class Store { ordinary, nontemporal };

// Sums of squares in 64 bits: of many small numbers in 32 bits they would depend on how rows are cut. Half a vector of 32 bits is one of
// 64.
class Squares {
 public:
  [[gnu::always_inline]] void add(const Vector& ss) { halves(ss, std::make_integer_sequence<int, width / 2>()); }
  [[gnu::always_inline]] double sum() const { return fl::simd::reduce<double>(sums_); }

 private:
  using Wide = fl::simd::native<double>;
  template <int... k>
  [[gnu::always_inline]] void halves(const Vector& ss, std::integer_sequence<int, k...>) {
#if __has_builtin(__builtin_shufflevector)
    const Wide lower = __builtin_convertvector(__builtin_shufflevector(ss, ss, k...), Wide);
    const Wide upper = __builtin_convertvector(__builtin_shufflevector(ss, ss, (k + width / 2)...), Wide);
#else
    const Wide lower = {static_cast<double>(ss[k])...}, upper = {static_cast<double>(ss[k + width / 2])...};
#endif
    sums_[0] += lower * lower;
    sums_[1] += upper * upper;
  }

  Wide sums_[2] = {};
};

// The first `points` of a vector's, and zeros.
template <int... lane>
[[gnu::always_inline]] inline Vector first_of(const Vector& ss, Index points, std::integer_sequence<int, lane...>) {
  using Numbers = fl::simd::native<int>;
  return Numbers{lane...} < static_cast<int>(points) ? ss : Vector{};
}

// A row by vectors: ss_at(k) computes points k, ..., k + width - 1, those beyond the end too, which are in what pads a row; what they
// become is not stored, for walls and halos follow.
template <Store kind, class SsAt>
[[gnu::always_inline]] inline double by_vectors(const Row& row, SsAt ss_at) {
  Squares squares;
  Index k = 0;
  for (; k + width <= row.count; k += width) {
    const Vector ss = ss_at(k), p = fl::simd::load<Vector>(row.p + k) + omega * ss;
    squares.add(ss);
    if constexpr (kind == Store::nontemporal)
      fl::nontemporal::store(row.next + k, p);
    else
      fl::simd::store(row.next + k, p);
  }
  if (k == row.count) return squares.sum();
  const Vector ss = first_of(ss_at(k), row.count - k, std::make_integer_sequence<int, width>());
  squares.add(ss);
  float p[width];
  fl::simd::store(p, fl::simd::load<Vector>(row.p + k) + omega * ss);
  std::copy_n(p, row.count - k, row.next + k);
  return squares.sum();
}

inline bool begins_on_a_line(const Row& row) { return reinterpret_cast<std::uintptr_t>(row.next) % fl::simd::bytes == 0; }

// Prefetches a line, into the second-level cache: the first one has room for few lines that are under way.
[[gnu::always_inline]] inline void prefetch(const float* line) { __builtin_prefetch(line, 0, 2); }
inline constexpr Index ahead = 384;  // points

// The arrays as the benchmark has them: thirteen streams, more than a processor's own prefetching follows at full speed, so the lines
// of all of them are prefetched.
template <Store kind>
struct Vectors {
  double operator()(const Row& row) const {
    const Streams streams(row);
    const auto ss_at = [&](Index k) __attribute__((always_inline)) {
      const Coefficients& in = streams.in;
      for (const float* array : {in.a[0], in.a[1], in.a[2], in.a[3], in.b[0], in.b[1], in.b[2], in.c[0], in.c[1], in.c[2], in.bnd, in.wrk1})
        prefetch(array + k + ahead);
      prefetch(streams.p[2][2] + k + ahead);
      return streams.residual<Vector>(k, Load{});
    };
    if (kind == Store::nontemporal && begins_on_a_line(row)) return by_vectors<kind>(row, ss_at);
    return by_vectors<Store::ordinary>(row, ss_at);
  }
};

// Past the caches where this compiler has such stores for this processor, and what a point then moves.
inline constexpr Store past_caches = fl::nontemporal::available ? Store::nontemporal : Store::ordinary;
inline constexpr double bytes_past_caches = fl::nontemporal::available ? 56 : 60;

}  // namespace himeno
