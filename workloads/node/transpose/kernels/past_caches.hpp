// B written past the caches, line by line: no line is read only to be overwritten (write-allocate).
//
// Tiles wait in a small buffer in the first cache for the rest of their lines. A tile is read by eight rows at a time, four lines of
// each: rows a power of two apart share sets of a cache, and of more rows than a set has places lines are gone before they are used. While one
// tile is read, the tile before it is written, row by row of B: so memory is read and written at once, and nothing is loaded that was only just
// stored in pieces. What is left of a row of B that does not begin on a line waits until the next strip of A comes to it.
#pragma once

#include "firstlight/nontemporal.hpp"
#include "squares.hpp"

namespace transpose {

inline std::string past_caches_refuses(const Params&) { return fl::nontemporal::refusal(); }

struct PastCaches {
  template <class T, class V>
  [[gnu::always_inline]] void operator()(T* to, const V& v) const {
    fl::nontemporal::store(to, v);
  }
};

template <class T>
inline Index beyond_line(const T* at) {
  return static_cast<Index>(reinterpret_cast<std::uintptr_t>(at) / sizeof(T)) % line<T>;
}

// Any box with whole columns of A.
template <class T>
class Gathered {
 public:
  void open(Index columns) {
    left_ = fl::Array<T>((columns + wide) * line<T>);
    waiting_ = fl::Array<T>(2 * wide * row_size + line<T>);
  }
  void turn(const Box<T>& box) {
    Tile before{};
    for (Index i = 0; i < box.rows; i += high)
      for (Index j = 0; j < box.columns; j += wide) {
        const Index rows = std::min(high, box.rows - i), columns = std::min(wide, box.columns - j);
        const bool right = j + wide < box.columns, below = i + high < box.rows;
        const T* const next = right ? box.a + i * box.a_row + j + wide : below ? box.a + (i + high) * box.a_row : box.a;
        T* const waiting = row(before.waiting == row(0) ? wide : 0);
        const Tile tile{box.part(i, j, rows, columns), next, waiting, left_.data() + j * line<T>, i == 0, !below};
        if (before.left == tile.left) write(before, 0, wide), before.at.columns = 0;  // what it leaves is needed now
        gather(tile, before);
        before = tile;
      }
    write(before, 0, wide);
  }

 private:
  static constexpr Index side = 8, wide = 4 * line<T>, high = 32, lines = high / line<T>, row_size = high + line<T>;
  struct Tile {
    Box<T> at;
    const T* next;     // where the next tile begins
    T* waiting;        // its columns, row_size apart
    T* left;           // a line of each: what the strip above has left, then what this one leaves
    bool first, last;  // strip of A
  };

  T* row(Index k) {
    return waiting_.data() + k * row_size + line<T>;
  }  // a line is before the first one: a row's first line is loaded whole

  void gather(const Tile& tile, const Tile& before) {
    constexpr Index written = side / lines;  // rows of B in the time of a step, which turns as many lines
    Index k = 0;
    for (Index i = 0; i < high; i += side) {
      const T* const from = tile.at.a + i * tile.at.a_row;
      const T* const next = i + side < tile.at.rows ? from + side * tile.at.a_row : tile.next;
      for (Index j = 0; j < wide; j += line<T>, k += written) {
        for (Index r = 0; r < side; ++r) __builtin_prefetch(next + r * tile.at.a_row + j);
        step({from + j, tile.at.a_row, tile.waiting + j * row_size + i, row_size, tile.at.rows - i, tile.at.columns - j});
        write(before, k, k + written);
      }
    }
  }

  // `side` rows of a line of columns, as far as there are so many.
  [[gnu::always_inline]] static void step(const Box<T>& box) {
    if (box.rows >= side && box.columns >= line<T>) return by_vectors(box.a, box.a_row, box.b, box.b_row, side, line<T>);
    const Index rows = std::min(side, box.rows), columns = std::min(line<T>, box.columns);
    if (rows > 0 && columns > 0) by_loops(box.part(0, 0, rows, columns));
  }

  static void write(const Tile& tile, Index begin, Index end) {
    for (Index k = begin; k < std::min(end, tile.at.columns); ++k) {
      T *const to = tile.at.b + k * tile.at.b_row, *const left = tile.left + k * line<T>, *const waiting = tile.waiting + k * row_size;
      const Index before = beyond_line(to);
      if (tile.first || tile.last)
        write_end(tile, to, waiting, left, before);
      else
        fl::simd::unroll<lines>([&](auto q) __attribute__((always_inline)) {
          if (q == 0 && before > 0)
            joined(to - before, left, waiting - before, before);
          else
            whole_line(to - before + q * line<T>, waiting - before + q * line<T>, PastCaches());
        });
      if (!tile.last && before > 0) whole_line(left, waiting + high - before, Ordinary());
    }
  }

  // Before the first line of a row of B and behind its last one stand elements of other rows.
  static void write_end(const Tile& tile, T* to, T* from, const T* left, Index before) {
    Index i = 0;
    if (tile.first)
      for (; i < tile.at.rows && (before + i) % line<T> != 0; ++i) to[i] = from[i];
    else
      i = -before, std::copy_n(left, before, from + i);
    for (; i + line<T> <= tile.at.rows; i += line<T>) whole_line(to + i, from + i, PastCaches());
    if (tile.last)
      for (; i < tile.at.rows; ++i) to[i] = from[i];
  }

  // A line whose first elements, `before` of them, are left ones.
  [[gnu::always_inline]] static void joined(T* to, const T* left, const T* from, Index before) {
    using Native = fl::simd::native<T>;
    using Place = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
    using Places = fl::simd::native<Place>;
    constexpr int native = fl::simd::width<T>;
    fl::simd::unroll<line<T> / native>([&](auto k) __attribute__((always_inline)) {
      const Places place = places<Places>(std::make_integer_sequence<int, native>()) + k * native;
      const auto old = fl::simd::load<Native>(left + k * native), here = fl::simd::load<Native>(from + k * native);
      PastCaches()(to + k * native, place < static_cast<Place>(before) ? old : here);
    });
  }
  template <class Places, int... k>
  static Places places(std::integer_sequence<int, k...>) {
    return Places{k...};
  }

  template <class Store>
  [[gnu::always_inline]] static void whole_line(T* to, const T* from, Store store) {
    using Native = fl::simd::native<T>;
    constexpr int native = fl::simd::width<T>;
    fl::simd::unroll<line<T> / native>([&](auto k) __attribute__((always_inline)) {
      store(to + k * native, fl::simd::load<Native>(from + k * native));
    });
  }

  fl::Array<T> left_;     // a line of each row of B
  fl::Array<T> waiting_;  // two places of `wide` columns
};

// For columns `own` of A, in both precisions: only that of the step has memory.
class ToMemory {
 public:
  void open(const State& s, fl::Part own) {
    own_ = own;
    if (s.precision == 32)
      singles_.open(own.size());
    else
      doubles_.open(own.size());
  }
  void turn(State& s) {
    if (s.precision == 32)
      turn(s.singles, s.n, singles_);
    else
      turn(s.doubles, s.n, doubles_);
    fl::nontemporal::fence();
  }

 private:
  template <class T>
  void turn(Matrices<T>& m, Index n, Gathered<T>& gathered) const {
    gathered.turn(Box<T>{m.a.data() + own_.begin, n, m.b.data() + own_.begin * n, n, n, own_.size()});
  }

  fl::Part own_;
  Gathered<float> singles_;
  Gathered<double> doubles_;
};

}  // namespace transpose
