// B written past the caches, line by line: no line is read only to be overwritten (write-allocate).
//
// Squares wait in a small place for the rest of their lines; those of a row of B, two or four, are then written one after the other. What is
// left of a row, where it does not begin on a line, waits until the next strip of A comes to it. A line is written only while another
// square is turned, for a processor cannot read so soon what it has stored in pieces.
#pragma once

#include "firstlight/nontemporal.hpp"
#include "squares.hpp"

namespace transpose::inline FL_ROLE {

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
    waiting_ = fl::Array<T>(2 * place);
  }
  void turn(const Box<T>& box) {
    for (Index i = 0; i < box.rows; i += high) {
      const Box<T> strip = box.part(i, 0, std::min(high, box.rows - i), box.columns);
      const bool first = i == 0, last = i + high >= box.rows;
      for (Index j = 0; j < box.columns; j += wide) {
        gather(strip, j, first);
        if (j > 0) write(strip, j - wide, first, last);
      }
      write(strip, (box.columns - 1) / wide * wide, first, last);
    }
  }

 private:
  static constexpr Index wide = 8, high = 32, lines = high / line<T>, row_size = high + line<T>, place = wide * row_size;

  // Of column j of A; before it lie the elements of a line that the strip above has left.
  T* row(Index j) { return waiting_.data() + j / wide % 2 * place + j % wide * row_size + line<T>; }

  void gather(const Box<T>& strip, Index j, bool first) {
    const Index columns = std::min(wide, strip.columns - j);
    if (!first)
      for (Index k = j; k < j + columns; ++k) whole_line(row(k) - line<T>, left_.data() + k * line<T>, Ordinary());
    const Box<T> in{strip.a + j, strip.a_row, row(j), row_size, strip.rows, columns};
    if (in.rows < high || columns < wide) return by_loops(in);
    const T* const next = in.a + std::min(line<T>, strip.columns - 1 - j);
    fl::simd::unroll<high / wide>([&](auto q) __attribute__((always_inline)) {
      for (Index k = q * wide; k < (q + 1) * wide; ++k) __builtin_prefetch(next + k * in.a_row);
      square<wide>(in.a + q * wide * in.a_row, in.a_row, in.b + q * wide, in.b_row, Ordinary());
    });
  }

  void write(const Box<T>& strip, Index j, bool first, bool last) {
    const Index end = std::min(j + wide, strip.columns);
    for (Index k = j; k < end; ++k) {
      T* to = strip.b + k * strip.b_row;
      const T* from = row(k);
      const Index before = beyond_line(to);
      if (first || last)
        write_end(to, from, before, strip.rows, first, last);
      else
        fl::simd::unroll<lines>([&](auto q) __attribute__((always_inline)) {
          whole_line(to - before + q * line<T>, from - before + q * line<T>, PastCaches());
        });
      if (!last) whole_line(left_.data() + k * line<T>, from + high - line<T>, Ordinary());
    }
  }

  // Of a row of B: before its first line and behind its last one stand elements of other rows.
  static void write_end(T* to, const T* from, Index before, Index count, bool first, bool last) {
    Index i = first ? 0 : -before;
    if (first)
      for (; i < count && (before + i) % line<T> != 0; ++i) to[i] = from[i];
    for (; i + line<T> <= count; i += line<T>) whole_line(to + i, from + i, PastCaches());
    if (last)
      for (; i < count; ++i) to[i] = from[i];
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
  fl::Array<T> waiting_;  // two places of `wide` rows
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

}  // namespace transpose::inline FL_ROLE
