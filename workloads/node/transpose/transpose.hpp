// transpose: B = A^T of n x n matrices, or A = A^T in place. No arithmetic at all: of two matrices one is read or written across its rows,
// and the difference to a copy is caches and their sets, pages, and lines of which only a part is written.
#pragma once

#include <bit>

#include "firstlight/error_summary.hpp"
#include "firstlight/input_mutator.hpp"
#include "firstlight/workload.hpp"

namespace transpose {

using fl::Index;

struct Params {
  Index n = 100, precision = 64;
  void declare(fl::Fields& fields) {
    fields.integer("n", n, "rows", 1, 65536, "rows and columns of the matrix");
    fields.integer("precision", precision, "bit", 32, 64, "width of the numbers: 32 or 64");
  }
};

// What the workload must know of a variant: whether the matrix is turned where it is. Then a step undoes what the one before it did.
struct Traits {
  bool in_place = false;
};

template <class T>
struct Matrices {
  fl::Array<T> a, b;  // rows one after the other; in place only a
};

struct State {
  Index n = 0, precision = 64;
  bool in_place = false, turned = false;  // turned: a contains the transpose
  Matrices<float> singles;
  Matrices<double> doubles;
  fl::InputMutator changing;  // of A's elements
  fl::Team team;
};

inline constexpr fl::About about{
    .title = "Matrix transposed",
    .cost = "n^2 elements are read and n^2 are written; no flops",
    .verified = "Every element of the transpose, compared with its value by index; in place again after one more step",
    .tolerance = "Exact",
};

inline constexpr fl::Metric metrics[] = {{"bandwidth", "GB/s", "bytes", "rate", 1e-9, "higher"}};

inline std::string refuse(const Params& p, const fl::Team&) {
  return p.precision != 32 && p.precision != 64 ? "precision must be 32 or 64" : "";
}

inline fl::Cost cost(const Params& p, const fl::Team&, const Traits& traits) {
  const double one = static_cast<double>(p.n) * static_cast<double>(p.n) * static_cast<double>(p.precision) / 8;
  return {.bytes = 2 * one, .working_set = traits.in_place ? one : 2 * one};
}

// Calls f(matrices) in the requested precision.
template <class F>
[[gnu::always_inline]] inline void in_precision(State& s, F f) {
  if (s.precision == 32)
    f(s.singles);
  else
    f(s.doubles);
}

// A number from 1 to 2 by a word; its whole mantissa is drawn, so that no element may stand for another.
template <class T>
T drawn(std::uint64_t word) {
  const std::uint64_t h = fl::hash(word);
  if constexpr (sizeof(T) == sizeof(float))
    return std::bit_cast<float>(0x3F800000u | static_cast<std::uint32_t>(h >> 41));
  else
    return std::bit_cast<double>(0x3FF0000000000000ull | h >> 12);
}
// Element i n + j of A, and the value of one that a step changed.
template <class T>
T element(Index place) {
  return drawn<T>(static_cast<std::uint64_t>(place));
}
template <class T>
T changed(Index iteration) {
  return drawn<T>(~static_cast<std::uint64_t>(iteration));
}

inline void init(State& s, const Params& p, const fl::Team& team, const Traits& traits) {
  s.n = p.n, s.precision = p.precision, s.in_place = traits.in_place, s.team = team;
  in_precision(s, [&](auto& m) {
    using Elements = std::remove_reference_t<decltype(m.a)>;
    m.a = Elements(s.n * s.n);
    if (!s.in_place) m.b = Elements(s.n * s.n);
  });
  s.changing = fl::InputMutator(s.n * s.n);
  fl::first_touch(&s);
  in_precision(s, [&](auto& m) {
    for (Index place = 0; place < s.n * s.n; ++place) m.a[place] = element<std::remove_reference_t<decltype(m.a[0])>>(place);
  });
}

// Before a step, an element of A changes where it is now.
inline void change(State& s, Index iteration) {
  s.changing.mutate_inputs(iteration, [&](Index place) {
    const Index lies = s.turned ? place % s.n * s.n + place / s.n : place;
    in_precision(s, [&](auto& m) { m.a[lies] = changed<std::remove_reference_t<decltype(m.a[0])>>(iteration); });
  });
}

inline void mutate_inputs(State& s, Index iteration) {
  if (iteration < fl::beyond_timing) change(s, iteration);
  s.turned = s.in_place && !s.turned;
}

inline Index mutate_between_batches(State& s, Index next) {
  return s.changing.mutate_between_batches(next, [&](Index iteration) { change(s, iteration); });
}

// In place there is nothing but the input.
inline void poison(State& s) {
  fl::poison(s.singles.b.data(), s.singles.b.size());
  fl::poison(s.doubles.b.data(), s.doubles.b.size());
}

// Whether `matrix` is A, or its transpose, as of the step whose changes `ages` knows.
template <class T>
void look(const fl::Array<T>& matrix, Index n, bool transposed, const fl::ChangeLog& ages, fl::ErrorSummary& damage) {
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) {
      const Index place = transposed ? j * n + i : i * n + j, iteration = ages.of(place, -1);
      const T wanted = iteration < 0 ? element<T>(place) : changed<T>(iteration), found = matrix[i * n + j];
      if (found == wanted) [[likely]]
        continue;
      damage.add([&] {
        return fl::text("element (%lld, %lld) is %.17g, should be %.17g", i, j, static_cast<double>(found), static_cast<double>(wanted));
      });
    }
}

inline fl::Check check(State& s, Index last) {
  const fl::ChangeLog ages(s.changing, last);
  fl::ErrorSummary damage;
  const auto look_again = [&] {
    in_precision(s, [&](auto& m) { look(s.in_place ? m.a : m.b, s.n, !s.in_place || s.turned, ages, damage); });
  };
  look_again();
  if (s.in_place) {  // a step that does nothing is right after every second one
    fl::run_steps(fl::beyond_timing, 1);
    look_again();
  }
  return damage.check(fl::text("all %lld elements are exactly right", s.n * s.n));
}

}  // namespace transpose
