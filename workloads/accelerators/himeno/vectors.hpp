// A row in explicit vectors.
#pragma once

#include <cstdint>
#include <utility>

#include "run.hpp"

#include "firstlight/nontemporal.hpp"
#include "firstlight/simd.hpp"

namespace himeno::inline FL_ROLE {

using Vector = fl::simd::native<float>;
inline constexpr int width = fl::simd::width<float>;

struct Load {
  Vector operator()(const float* from) const { return fl::simd::load<Vector>(from); }
};

enum class Store { ordinary, nontemporal };

// Sums of squares in 64 bits: of many small numbers in 32 bits they would depend on how rows are cut. Half a vector of 32 bits is one of 64.
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

// A row by vectors: ss_at(k) computes points k, ..., k + width - 1, those beyond the end too, which lie in what pads a row.
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
  double sum = squares.sum();
  if (k == row.count) return sum;
  float rest[width];
  fl::simd::store(rest, ss_at(k));
  for (int n = 0; k < row.count; ++n, ++k) {
    sum += static_cast<double>(rest[n]) * static_cast<double>(rest[n]);
    row.next[k] = row.p[k] + omega * rest[n];
  }
  return sum;
}

inline bool begins_on_a_line(const Row& row) { return reinterpret_cast<std::uintptr_t>(row.next) % fl::simd::bytes == 0; }

// The arrays as the benchmark has them: thirteen streams, more than a processor's own prefetching follows at full speed, so the lines
// of all of them are asked for ahead of time.
template <Store kind>
struct Vectors {
  static constexpr Index ahead = 256;  // points

  double operator()(const Row& row) const {
    const Streams streams(row);
    const auto ss_at = [&](Index k) __attribute__((always_inline)) {
      const Coefficients& in = streams.in;
      for (const float* array : {in.a[0], in.a[1], in.a[2], in.a[3], in.b[0], in.b[1], in.b[2], in.c[0], in.c[1], in.c[2], in.bnd, in.wrk1})
        __builtin_prefetch(array + k + ahead);
      __builtin_prefetch(streams.p[2][2] + k + ahead);
      return streams.residual<Vector>(k, Load{});
    };
    if (kind == Store::nontemporal && begins_on_a_line(row)) return by_vectors<kind>(row, ss_at);
    return by_vectors<Store::ordinary>(row, ss_at);
  }
};

inline std::string nontemporal_refuses(const Params&) {
  return fl::nontemporal::available ? "" : "this compiler offers no non-temporal stores on this processor; himeno runs as the variant simd";
}

}  // namespace himeno::inline FL_ROLE
