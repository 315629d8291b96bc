// Squares of a matrix transposed in registers, by the compilers' vector extensions, and boxes that are covered by them.
//
// A vector has lanes of 16 bytes. First the numbers within lanes are turned, then lanes are put where they belong: whole rows of a square
// in registers, or, for a piece of 16 bytes of each row, as they are loaded. Vectors of 32 bytes are faster here than those of 64, for
// which a processor has fewer units that shuffle.
#pragma once

#include "firstlight/simd.hpp"
#include "loops.hpp"

namespace transpose {

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

// In each lane the first half of a's and b's, or the second half, a number of type Unit of each, alternately. Of whole numbers, for there are
// processors with two units that zip these and one that zips floating-point numbers.
template <class Unit, bool second, class V, int... k>
[[gnu::always_inline]] inline V zipped(const V& a, const V& b, std::integer_sequence<int, k...>) {
  using Whole = Vector<Unit, sizeof...(k)>;
  constexpr auto from = [](int at) {
    const int in_lane = at % lane<Unit>, begin = at - in_lane + (second ? lane<Unit> / 2 : 0);
    return begin + in_lane / 2 + (in_lane % 2 == 1 ? static_cast<int>(sizeof...(k)) : 0);
  };
  return reinterpret_cast<V>(
      picked<Unit>(reinterpret_cast<const Whole&>(a), reinterpret_cast<const Whole&>(b), std::integer_sequence<int, from(k)...>()));
}
template <class Unit, bool second, class V>
[[gnu::always_inline]] inline V zip(const V& a, const V& b) {
  return zipped<Unit, second>(a, b, std::make_integer_sequence<int, sizeof(V) / sizeof(Unit)>());
}

// Every second lane of a and b, from the first or from the second one on.
template <bool second, class V, int... k>
[[gnu::always_inline]] inline V every_second(const V& a, const V& b, std::integer_sequence<int, k...>) {
  using Halves = Vector<std::int64_t, sizeof...(k)>;
  using From = std::integer_sequence<int, 2 * k - k % 2 + (second ? 2 : 0)...>;
  return reinterpret_cast<V>(picked<std::int64_t>(reinterpret_cast<const Halves&>(a), reinterpret_cast<const Halves&>(b), From()));
}
template <bool second, class V>
[[gnu::always_inline]] inline V lanes_of(const V& a, const V& b) {
  return every_second<second>(a, b, std::make_integer_sequence<int, sizeof(V) / sizeof(std::int64_t)>());
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

// Numbers of each lane: vector r, number c and vector c, number r change places.
template <class V, std::size_t count>
[[gnu::always_inline]] inline void turn_lanes(V (&row)[count]) {
  using Wide = std::int64_t;
  if constexpr (count == 2) {
    const V first = row[0], second = row[1];
    row[0] = zip<Wide, false>(first, second), row[1] = zip<Wide, true>(first, second);
  } else {
    using Narrow = std::int32_t;
    const V left = zip<Narrow, false>(row[0], row[1]), left_below = zip<Narrow, false>(row[2], row[3]);
    const V right = zip<Narrow, true>(row[0], row[1]), right_below = zip<Narrow, true>(row[2], row[3]);
    row[0] = zip<Wide, false>(left, left_below), row[1] = zip<Wide, true>(left, left_below);
    row[2] = zip<Wide, false>(right, right_below), row[3] = zip<Wide, true>(right, right_below);
  }
}

// `width` rows of `lane` columns; give(column, vector).
template <class T, class Give>
[[gnu::always_inline]] inline void columns_of_a_lane(const T* a, Index a_row, Give give) {
  Vector<T, width<T>> row[lane<T>];
  fl::simd::unroll<lane<T>>([&](auto r) __attribute__((always_inline)) { row[r] = pieces(a + r * a_row, a_row); });
  turn_lanes(row);
  fl::simd::unroll<lane<T>>([&](auto k) __attribute__((always_inline)) { give(k, row[k]); });
}

// `side` rows of as many columns, in vectors of so many.
template <int side, class T, class Give>
[[gnu::always_inline]] inline void square_of_a_vector(const T* a, Index a_row, Give give) {
  using V = Vector<T, side>;
  constexpr int lanes = side / lane<T>;
  V row[lanes][lane<T>];
  fl::simd::unroll<lanes>([&](auto l) __attribute__((always_inline)) {
    fl::simd::unroll<lane<T>>([&](auto r) __attribute__((always_inline)) { row[l][r] = fl::simd::load<V>(a + (l * lane<T> + r) * a_row); });
    turn_lanes(row[l]);
  });
  fl::simd::unroll<lane<T>>([&](auto k) __attribute__((always_inline)) {
    if constexpr (lanes == 1) {
      give(k, row[0][k]);
    } else if constexpr (lanes == 2) {
      give(k, lanes_of<false>(row[0][k], row[1][k])), give(k + lane<T>, lanes_of<true>(row[0][k], row[1][k]));
    } else {
      const V even = lanes_of<false>(row[0][k], row[1][k]), even_below = lanes_of<false>(row[2][k], row[3][k]);
      const V odd = lanes_of<true>(row[0][k], row[1][k]), odd_below = lanes_of<true>(row[2][k], row[3][k]);
      give(k, lanes_of<false>(even, even_below)), give(k + 2 * lane<T>, lanes_of<true>(even, even_below));
      give(k + lane<T>, lanes_of<false>(odd, odd_below)), give(k + 3 * lane<T>, lanes_of<true>(odd, odd_below));
    }
  });
}

// Rows of B whose lines are written one after the other while they are in registers: of 32 bit those of a lane, for the squares of a vector
// have eight rows of each matrix.
template <Index side, class T, class Store>
[[gnu::always_inline]] inline void square(const T* a, Index a_row, T* b, Index b_row, Store store) {
  constexpr bool whole = sizeof(T) == 8;
  constexpr Index columns = whole ? width<T> : lane<T>;
  fl::simd::unroll<side / columns>([&](auto j) __attribute__((always_inline)) {
    fl::simd::unroll<side / width<T>>([&](auto i) __attribute__((always_inline)) {
      const Index down = i * width<T>, right = j * columns;
      const T* const from = a + down * a_row + right;
      T* const to = b + right * b_row + down;
      const auto give = [&](int k, const auto& v) __attribute__((always_inline)) { store(to + k * b_row, v); };
      if constexpr (whole)
        square_of_a_vector<width<T>>(from, a_row, give);
      else
        columns_of_a_lane(from, a_row, give);
    });
  });
}

struct Ordinary {
  template <class T, class V>
  [[gnu::always_inline]] void operator()(T* to, const V& v) const {
    fl::simd::store(to, v);
  }
};

// `high` rows of a lane of columns. Each line of B is written at once, in two or more stores side by side, of which a cache takes two at a
// time.
template <Index high, class T>
[[gnu::always_inline]] inline void lane_of_columns(const Box<T>& at) {
  constexpr int vectors = static_cast<int>(high) / width<T>;
  Vector<T, width<T>> turned[lane<T>][vectors];
  fl::simd::unroll<vectors>([&](auto i) __attribute__((always_inline)) {
    columns_of_a_lane(
        at.a + i * width<T> * at.a_row, at.a_row, [&](int k, const auto& v) __attribute__((always_inline)) { turned[k][i] = v; });
  });
  fl::simd::unroll<lane<T> * vectors>([&](auto n) __attribute__((always_inline)) {
    fl::simd::store(at.b + n / vectors * at.b_row + n % vectors * width<T>, turned[n / vectors][n % vectors]);
  });
}

// The last square of each row and column ends with the box: some elements are written twice, but for lanes of columns that are done. Lines
// of B that the next square writes are prefetched while this one is turned, in 32 bit those of a lane at a time; behind the last one of a
// column, of small matrices, whose rows are one strip, those of the next column: of large ones that costs more than it gains.
template <Index side, class T>
[[gnu::noinline]] inline void covered(const Box<T>& whole) {
  const Box<T> box = whole;
  const bool small = box.rows == box.b_row;
  for (Index right = 0; right < box.columns; right += side) {
    const Index j = std::min(right, box.columns - side), done = (right - j) / lane<T>;
    const Index next = std::min(right + side, box.columns - side);
    for (Index down = 0; down < box.rows; down += side) {
      const Index i = std::min(down, box.rows - side);
      const Box<T> at = box.part(i, j, side, side);
      const bool below = down + side < box.rows;
      T* const next_lines = below   ? at.b + std::min(down + side, box.rows - side) - i
                            : small ? box.b + next * box.b_row
                                    : at.b + (box.rows - 1 - i);
      const auto prefetch = [&](Index from, Index count) __attribute__((always_inline)) {
        for (Index k = from; k < from + count; ++k) __builtin_prefetch(next_lines + k * at.b_row, 1);
      };
      if constexpr (sizeof(T) == 8) {
        prefetch(0, side);
        square<side>(at.a, at.a_row, at.b, at.b_row, Ordinary());
      } else {
        fl::simd::unroll<static_cast<int>(side) / lane<T>>([&](auto q) __attribute__((always_inline)) {
          if (q < done) return;
          prefetch(q * lane<T>, lane<T>);
          lane_of_columns<side>(at.part(0, q * lane<T>, side, lane<T>));
        });
      }
    }
  }
}

// Whole squares of vectors.
template <class T>
[[gnu::always_inline]] inline void by_vectors(const T* a, Index a_row, T* b, Index b_row, Index rows, Index columns) {
  for (Index i = 0; i < rows; i += width<T>)
    for (Index j = 0; j < columns; j += width<T>)
      square_of_a_vector<width<T>>(
          a + i * a_row + j,
          a_row, [=](int k, const auto& v) __attribute__((always_inline)) { fl::simd::store(b + (j + k) * b_row + i, v); });
}

// The same of rows of 32 bit that begin on lines and have whole ones, where a vector is a line: what counts are loads, and of squares of
// whole rows each line takes one.
template <class T>
inline constexpr bool line_in_vector = fl::simd::bytes == 64 && sizeof(T) == 4;
template <class T>
inline bool in_lines(const Box<T>& box) {
  return line_in_vector<T> && (box.a_row | box.b_row | box.rows | box.columns) % line<T> == 0;
}
template <class T>
[[gnu::noinline]] inline void by_lines(const Box<T>& whole) {
  constexpr int side = static_cast<int>(line<T>);
  const Box<T> box = whole;
  for (Index j = 0; j < box.columns; j += side)
    for (Index i = 0; i < box.rows; i += side) {
      const Box<T> at = box.part(i, j, side, side);
      T* const next_lines = i + side < box.rows ? at.b + side : box.b + std::min(j + side, box.columns - side) * box.b_row;
      square_of_a_vector<side>(
          at.a, box.a_row, [&](int k, const auto& v) __attribute__((always_inline)) {
            __builtin_prefetch(next_lines + k * box.b_row, 1);
            fl::simd::store(at.b + k * box.b_row, v);
          });
    }
}

// `high` rows of all columns, a lane of columns at a time; the last lane ends with the box.
template <Index high, class T>
inline void along(const Box<T>& box) {
  const auto lane_at = [&](Index right) __attribute__((always_inline)) { lane_of_columns<high>(box.part(0, right, high, lane<T>)); };
  Index right = 0;
  for (; right + lane<T> <= box.columns; right += lane<T>) lane_at(right);
  if (right < box.columns) lane_at(box.columns - lane<T>);
}

// The last rows end with the box, too.
template <class T>
inline void by_lanes(const Box<T>& box) {
  Index down = 0;
  for (; down + line<T> <= box.rows; down += line<T>) along<line<T>>(box.part(down, 0, line<T>, box.columns));
  for (; down < box.rows; down += width<T>) along<width<T>>(box.part(std::min<Index>(down, box.rows - width<T>), 0, width<T>, box.columns));
}

// In the first cache nothing needs to be prefetched, and what counts is instructions. Where rows do not begin on vectors, loads of half a
// vector meet fewer borders of lines.
template <class T>
inline void by_rows(const Box<T>& box) {
  if (std::min(box.rows, box.columns) < width<T>) return by_loops(box);
  const bool whole = box.a_row % width<T> == 0 && box.rows % width<T> == 0 && box.columns % width<T> == 0;
  if (whole && box.a_row == box.b_row) return by_vectors(box.a, box.a_row, box.b, box.a_row, box.rows, box.columns);
  by_lanes(box);
}

// How many rows of A make a strip: where lines of A lie across the border of two columns of squares, they are still in the first cache when
// the next column comes.
template <class T>
inline Index strip(const Box<T>& box) {
  constexpr Index few = 320;
  if (sizeof(T) == 4 && box.rows <= few) return box.rows;
  return sizeof(T) == 8 || box.a_row % line<T> == 0 ? 128 : 176;
}

// High strips, whose squares go down: B's lines lie one after the other, and A's rows are not too many at once.
template <class T>
inline void by_squares(const Box<T>& box) {
  constexpr Index first_cache = 40 << 10;  // bytes; of those with 32 KiB it is not much more
  const Index high = strip(box);
  if (2 * box.rows * box.columns * static_cast<Index>(sizeof(T)) <= first_cache) return by_rows(box);
  const Index least = std::min(box.rows, box.columns);
  if (least < width<T>) return by_loops(box);
  if (least < 2 * line<T>) return covered<width<T>>(box);
  for (Index down = 0; down < box.rows; down += high) {
    const Index i = std::min(down, box.rows - line<T>);
    const Box<T> part = box.part(i, 0, std::min(high, box.rows - i), box.columns);
    if constexpr (line_in_vector<T>)
      if (in_lines(part)) {
        by_lines(part);
        continue;
      }
    covered<line<T>>(part);
  }
}

}  // namespace transpose
