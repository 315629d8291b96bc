// Squares of a matrix transposed in registers, by the compilers' vector extensions, and boxes that are covered by them.
//
// A vector is put together from pieces of 16 bytes, one of each of several rows that lie as many rows apart as a piece has elements; so all
// that is left to shuffle are pieces of 16 bytes, in lanes that do not meet. That takes half the shuffles of whole rows, and putting pieces
// together is work of a load. Vectors of 32 bytes are faster here than those of 64, for which a processor has fewer units that shuffle.
#pragma once

#include "firstlight/simd.hpp"
#include "loops.hpp"

namespace transpose::inline FL_ROLE {

inline constexpr int lane_bytes = 16, vector_bytes = std::min(fl::simd::bytes, 32), lanes = vector_bytes / lane_bytes;
template <class T>
inline constexpr int lane = lane_bytes / static_cast<int>(sizeof(T));
template <class T>
inline constexpr int width = lanes * lane<T>;
template <class T>
inline constexpr Index line = 64 / static_cast<Index>(sizeof(T));  // elements in a line of the caches

template <class T, int count>
struct vector_of {
  typedef T type __attribute__((vector_size(count * sizeof(T))));
};
template <class T, int count>
using Vector = typename vector_of<T, count>::type;

// Elements k... of a and b, counted through.
template <class T, class V, int... k>
[[gnu::always_inline]] inline Vector<T, sizeof...(k)> picked(const V& a, const V& b, std::integer_sequence<int, k...>) {
#if __has_builtin(__builtin_shufflevector)
  return __builtin_shufflevector(a, b, k...);
#else
  constexpr int half = sizeof(V) / sizeof(T);
  return Vector<T, sizeof...(k)>{(k < half ? a[k % half] : b[k % half])...};
#endif
}

// In each lane the first half of a's and b's pieces, or the second half, in turn, `run` elements at a time.
template <class T, int run, bool second, int... k>
[[gnu::always_inline]] inline Vector<T, width<T>> zipped(const Vector<T, width<T>>& a, const Vector<T, width<T>>& b,
                                                         std::integer_sequence<int, k...>) {
  constexpr auto from = [](int at) {
    const int in_lane = at % lane<T>, begin = at - in_lane + (second ? lane<T> / 2 : 0);
    return begin + in_lane / (2 * run) * run + in_lane % run + (in_lane / run % 2 == 1 ? width<T> : 0);
  };
  return picked<T>(a, b, std::integer_sequence<int, from(k)...>());
}
template <class T, int run, bool second>
[[gnu::always_inline]] inline Vector<T, width<T>> zip(const Vector<T, width<T>>& a, const Vector<T, width<T>>& b) {
  return zipped<T, run, second>(a, b, std::make_integer_sequence<int, width<T>>());
}

// A piece of the row at `a`, and one of the row that begins the next lane.
template <class T>
[[gnu::always_inline]] inline Vector<T, width<T>> pieces(const T* a, Index row) {
  using Piece = Vector<T, lane<T>>;
  if constexpr (lanes == 1) {
    return fl::simd::load<Piece>(a);
  } else {
#if defined(__clang__)
    return picked<T>(fl::simd::load<Piece>(a), fl::simd::load<Piece>(a + lane<T> * row), std::make_integer_sequence<int, width<T>>());
#else  // that way gcc 12 shuffles two registers, for which there is one unit; this way the second piece is put in as it is loaded
    __extension__ typedef __int128 Whole;
    return reinterpret_cast<Vector<T, width<T>>>(Vector<Whole, 2>{fl::simd::load<Whole>(a), fl::simd::load<Whole>(a + lane<T> * row)});
#endif
  }
}

// `width` rows of `lane` columns; give(column, vector).
template <class T, class Give>
[[gnu::always_inline]] inline void columns_of_a_lane(const T* a, Index a_row, Give give) {
  const auto row = [&](int r) __attribute__((always_inline)) { return pieces(a + r * a_row, a_row); };
  if constexpr (lane<T> == 2) {
    const auto first = row(0), second = row(1);
    give(0, zip<T, 1, false>(first, second)), give(1, zip<T, 1, true>(first, second));
  } else {
    const auto r0 = row(0), r1 = row(1), r2 = row(2), r3 = row(3);
    const auto left = zip<T, 1, false>(r0, r1), left_below = zip<T, 1, false>(r2, r3);
    const auto right = zip<T, 1, true>(r0, r1), right_below = zip<T, 1, true>(r2, r3);
    give(0, zip<T, 2, false>(left, left_below)), give(1, zip<T, 2, true>(left, left_below));
    give(2, zip<T, 2, false>(right, right_below)), give(3, zip<T, 2, true>(right, right_below));
  }
}

// Each row of the square in B is written at once, so that lines are written whole.
template <Index side, class T, class Store>
[[gnu::always_inline]] inline void square(const T* a, Index a_row, T* b, Index b_row, Store store) {
  fl::simd::unroll<side / lane<T>>([&](auto j) __attribute__((always_inline)) {
    fl::simd::unroll<side / width<T>>([&](auto i) __attribute__((always_inline)) {
      const Index down = i * width<T>, right = j * lane<T>;
      T* const to = b + right * b_row + down;
      columns_of_a_lane(
          a + down * a_row + right, a_row, [&](int k, const auto& v) __attribute__((always_inline)) { store(to + k * b_row, v); });
    });
  });
}

struct Ordinary {
  template <class T, class V>
  [[gnu::always_inline]] void operator()(T* to, const V& v) const {
    fl::simd::store(to, v);
  }
};

// The last square of each row and column ends with the box: some elements are written twice. Lines of B that the next square writes are
// asked for while this one is turned.
template <Index side, class T>
inline void covered(const Box<T>& box) {
  for (Index right = 0; right < box.columns; right += side)
    for (Index down = 0; down < box.rows; down += side) {
      const Index i = std::min(down, box.rows - side), j = std::min(right, box.columns - side), next = std::min(i + side, box.rows - 1);
      const Box<T> at = box.part(i, j, side, side);
      for (Index k = 0; k < side; ++k) __builtin_prefetch(at.b + k * at.b_row + (next - i), 1);
      square<side>(at.a, at.a_row, at.b, at.b_row, Ordinary());
    }
}

// `high` rows of all columns, a lane of columns at a time; the last lane ends with the box. Each line of B is written at once, in two or more
// stores side by side, of which a cache takes two at a time.
template <Index high, class T>
inline void along(const Box<T>& box) {
  constexpr int vectors = static_cast<int>(high) / width<T>;
  const auto lane_at = [&](Index right) __attribute__((always_inline)) {
    const Box<T> at = box.part(0, right, high, lane<T>);
    Vector<T, width<T>> turned[lane<T>][vectors];
    fl::simd::unroll<vectors>([&](auto i) __attribute__((always_inline)) {
      columns_of_a_lane(
          at.a + i * width<T> * at.a_row, at.a_row, [&](int k, const auto& v) __attribute__((always_inline)) { turned[k][i] = v; });
    });
    fl::simd::unroll<lane<T> * vectors>([&](auto n) __attribute__((always_inline)) {
      fl::simd::store(at.b + n / vectors * at.b_row + n % vectors * width<T>, turned[n / vectors][n % vectors]);
    });
  };
  Index right = 0;
  for (; right + lane<T> <= box.columns; right += lane<T>) lane_at(right);
  if (right < box.columns) lane_at(box.columns - lane<T>);
}

// In the first cache nothing needs to be asked for, and what counts is instructions. The last rows end with the box, too.
template <class T>
inline void by_rows(const Box<T>& box) {
  Index down = 0;
  for (; down + line<T> <= box.rows; down += line<T>) along<line<T>>(box.part(down, 0, line<T>, box.columns));
  for (; down < box.rows; down += width<T>) along<width<T>>(box.part(std::min<Index>(down, box.rows - width<T>), 0, width<T>, box.columns));
}

// High strips, whose squares go down: B's lines lie one after the other, and A's rows are not too many at once.
template <class T>
inline void by_squares(const Box<T>& box) {
  constexpr Index high = 128, first_cache = 40 << 10;  // bytes; of those with 32 KiB it is not much more
  const Index least = std::min(box.rows, box.columns);
  if (least < width<T>) return by_loops(box);
  if (2 * box.rows * box.columns * static_cast<Index>(sizeof(T)) <= first_cache) return by_rows(box);
  if (least < 2 * line<T>) return covered<width<T>>(box);
  for (Index down = 0; down < box.rows; down += high) {
    const Index i = std::min(down, box.rows - line<T>);
    covered<line<T>>(box.part(i, 0, std::min(high, box.rows - i), box.columns));
  }
}

}  // namespace transpose::inline FL_ROLE
