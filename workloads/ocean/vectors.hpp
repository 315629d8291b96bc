// Lines in vectors, by the compilers' vector extensions: so many cells at once as the target's vectors hold.
#pragma once

#include <algorithm>
#include <cstring>

#include "firstlight/nontemporal.hpp"
#include "sea.hpp"

namespace ocean {

using V = fl::simd::native<double>;
inline constexpr Index lanes = fl::simd::width<double>;

[[gnu::always_inline]] inline V at(const double* from) { return fl::simd::load<V>(from); }
[[gnu::always_inline]] inline V all(double x) { return V{} + x; }
// What is not a number stays so in the first place.
[[gnu::always_inline]] inline V larger(const V& a, const V& b) { return a < b ? b : a; }
[[gnu::always_inline]] inline V larger(const V& a, double b) { return larger(a, all(b)); }
[[gnu::always_inline]] inline V smaller(const V& a, const V& b) { return a > b ? b : a; }
[[gnu::always_inline]] inline V smaller(const V& a, double b) { return smaller(a, all(b)); }

// Prefetches lines that are needed soon.
template <class... Lines>
[[gnu::always_inline]] inline void fetch_later(const Lines*... lines) {
  (__builtin_prefetch(lines, 0), ...);
}

// Puts a vector at an address; past the caches where requested, whole vectors alone, which then are aligned. Or its first cells.
struct Whole {
  [[gnu::always_inline]] void operator()(double* to, const V& v, bool past = false) const {
    past ? fl::nontemporal::store(to, v) : fl::simd::store(to, v);
  }
};
struct Some {
  Index count;
  [[gnu::always_inline]] void operator()(double* to, const V& v, bool = false) const {
    std::memcpy(to, &v, static_cast<std::size_t>(count) * sizeof(double));
  }
};

// cells(i, put) computes cells i, i + 1, ... of a line, as many as fit into a vector. Where a line begins or ends within a vector it reads,
// but does not put, up to lanes - 1 more: the same code for each cell, so that none of its bits depends on where a line is cut. Whole
// vectors are aligned, as fields are: one that is in two lines of a cache is put as two.
template <class Cells>
[[gnu::always_inline]] inline void in_vectors(Index begin, Index end, const Cells& cells) {
  for (Index i = begin; i < end;) {
    for (; i % lanes == 0 && i + lanes <= end; i += lanes) cells(i, Whole{});
    if (i >= end) break;
    const Index next = std::min(end, (i & -lanes) + lanes);
    cells(i, Some{next - i});
    i = next;
  }
}

}  // namespace ocean
