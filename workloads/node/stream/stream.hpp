// stream: what one element-wise pass over long arrays moves a second (R5; J. McCalpin's STREAM, 1995). The memory ceilings.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>

#include "firstlight/input_mutator.hpp"
#include "firstlight/workload.hpp"

namespace stream {

enum class Op { copy, scale, add, triad, load };  // in the order of their names below

struct Params {
  Op op = Op::triad;
  fl::Index n = 1000;
  void declare(fl::Fields& fields) {
    fields.choice("op", op, "copy|scale|add|triad|load", "out = x; q x; x + y; x + q y; or the sum of x, stored nowhere");
    fields.integer("n", n, "elements", 1, fl::Index{1} << 32, "length of each array");
  }
};

inline constexpr double q = 3;

struct State {
  Op op = Op::triad;
  fl::Index n = 0;
  fl::Array<double> x, y, out;  // only those that the operation touches have elements
  double result = 0;            // of load
  fl::InputMutator changing;    // of all elements but the last
  fl::Index renewed = -1;       // the last iteration before this batch
  fl::Team team;
  // Variants on a device set these. fetch() copies the results from the device before a check; poisoned() poisons them there after
  // poison().
  void (*fetch)(State&) = nullptr, (*poisoned)(State&) = nullptr;
  void (*changed)(State&,
                  fl::Index) = nullptr;  // of such variants: takes element i of the inputs there, where it changes between batches only
  void* object = nullptr;                // of the variant
};

inline constexpr fl::About about{
    .title = "Memory bandwidth",
    .cost =
        "Per rank: copy and scale 16 n bytes, add and triad 24 n, load 8 n, without write-allocate; copy 0 flops, scale and add n, "
        "triad 2 n, load n",
    .verified = "Every element, compared with its value by index; load: with the exact sum",
    .tolerance = "1e-13 relative. All values are multiples of 2^-20, so small that no rounding occurs.",
};

inline constexpr fl::Metric metrics[] = {{"bandwidth", "GB/s", "bytes", "rate", 1e-9, "higher"}};

inline bool reads_two(Op op) { return op == Op::add || op == Op::triad; }

// Calls f with an operation that stores as a constant.
template <class F>
auto with_constant(Op op, F f) {
  switch (op) {
    case Op::copy:
      return f.template operator()<Op::copy>();
    case Op::scale:
      return f.template operator()<Op::scale>();
    case Op::add:
      return f.template operator()<Op::add>();
    default:
      return f.template operator()<Op::triad>();
  }
}

// Inputs are 1 + k 2^-20 with a k of 20 bits that differs from its neighbours': cheap enough to fill and to check arrays at the
// speed of memory, and exact in sums of up to 2^32 elements in any order.
inline constexpr std::uint64_t of_x = 0x9E3779B97F4A7C15ull, of_y = 0xD1B54A32D192ED03ull;
inline std::uint64_t twenty_bits(fl::Index i, std::uint64_t odd) { return (static_cast<std::uint64_t>(i) + 1) * odd >> 44; }
inline double one_to_two(std::uint64_t k) { return 1.0 + 0x1p-20 * static_cast<double>(static_cast<std::int64_t>(k)); }

// The same values of eight neighbours at once, and then of the next eight: the product with the index is a running sum, and the 20
// bits go to the front of a mantissa as they are.
class Eights {
 public:
  using Values = double __attribute__((vector_size(64)));
  static constexpr fl::Index width = 8;

  Eights(fl::Index first, std::uint64_t odd) : step_(width * odd) {
    for (fl::Index k = 0; k < width; ++k) products_[k] = static_cast<std::uint64_t>(first + k + 1) * odd;
  }
  [[gnu::always_inline]] Values next() {
    const Words bits = (products_ >> 12 & 0x000FFFFF00000000ull) | 0x3FF0000000000000ull;
    products_ += step_;
    return reinterpret_cast<Values>(bits);
  }

 private:
  using Words = std::uint64_t __attribute__((vector_size(64)));
  Words products_{};
  std::uint64_t step_;
};

inline void fill(fl::Array<double>& array, std::uint64_t odd) {
  const fl::Index whole = array.size() / Eights::width * Eights::width;
  Eights eights(0, odd);
  for (fl::Index i = 0; i < whole; i += Eights::width) {
    const Eights::Values values = eights.next();
    std::memcpy(&array[i], &values, sizeof values);
  }
  for (fl::Index i = whole; i < array.size(); ++i) array[i] = one_to_two(twenty_bits(i, odd));
}

// The last element of x follows the iteration, and alternately another one, of y where its number is odd and there is a y. They take other
// values for as many steps as a batch has.
inline std::uint64_t changed_bits(fl::Index iteration) { return twenty_bits(iteration, of_x); }
inline bool changes_in_y(Op op, fl::Index i) { return reads_two(op) && (i & 1) != 0; }
inline void change(State& s, fl::Index i, fl::Index iteration) {
  (changes_in_y(s.op, i) ? s.y : s.x)[i] = one_to_two(changed_bits(iteration));
}

inline void mutate_inputs(State& s, fl::Index iteration) {
  s.x[s.n - 1] = one_to_two(changed_bits(iteration));
  if (s.changed == nullptr) s.changing.mutate_inputs(iteration, [&](fl::Index i) { change(s, i, iteration); });
}

inline fl::Index mutate_between_batches(State& s, fl::Index next) {
  const auto take = [&](fl::Index iteration) {
    s.changing.mutate_inputs(iteration, [&](fl::Index i) {
      change(s, i, iteration);
      if (s.changed != nullptr) s.changed(s, i);
    });
  };
  const fl::Index first = s.changing.mutate_between_batches(next, take);
  s.renewed = first - 1;
  return first;
}

inline void init(State& s, const Params& p, const fl::Team& team) {
  s.op = p.op;
  s.n = p.n;
  s.team = team;
  s.x = fl::Array<double>(s.n);
  if (reads_two(s.op)) s.y = fl::Array<double>(s.n);
  if (s.op != Op::load) s.out = fl::Array<double>(s.n);
  s.changing = fl::InputMutator(s.n - 1);
  fl::first_touch(&s);
  fill(s.x, of_x);
  fill(s.y, of_y);
  mutate_inputs(s, 0);
}

inline fl::Cost cost(const Params& p, const fl::Team& team) {
  constexpr double flops[] = {0, 1, 1, 2, 1}, bytes[] = {16, 16, 24, 24, 8};
  const auto op = static_cast<std::size_t>(p.op);
  const auto n = static_cast<double>(p.n), all = n * team.ranks;
  return {.flops = flops[op] * all, .bytes = bytes[op] * all, .working_set = bytes[op] * n};
}

inline void poison(State& s) {
  fl::poison(&s.result, 1);
  fl::poison(s.out.data(), s.out.size());
  if (s.poisoned != nullptr) s.poisoned(s);
}

template <class T>  // a number or several
[[gnu::always_inline]] inline T combine(Op op, T x, T y) {
  switch (op) {
    case Op::copy:
      return x;
    case Op::scale:
      return q * x;
    case Op::add:
      return x + y;
    default:
      return x + q * y;
  }
}

inline constexpr double tolerance = 1e-13;

inline fl::ChangeLog ages_of(const State& s, fl::Index last) { return {s.changing, s.changed == nullptr ? last : s.renewed}; }

// What element i of out must be.
inline double wanted(const State& s, const fl::ChangeLog& ages, fl::Index i, fl::Index last) {
  const fl::Index iteration = i == s.n - 1 ? last : ages.of(i, -1);
  const bool in_y = i < s.n - 1 && changes_in_y(s.op, i);
  const std::uint64_t x = iteration >= 0 && !in_y ? changed_bits(iteration) : twenty_bits(i, of_x);
  const std::uint64_t y = iteration >= 0 && in_y ? changed_bits(iteration) : twenty_bits(i, of_y);
  return combine(s.op, one_to_two(x), one_to_two(y));
}

inline fl::Check check_sum(const State& s, fl::Index last) {
  const fl::ChangeLog ages = ages_of(s, last);
  std::uint64_t bits = changed_bits(last);
  for (fl::Index i = 0; i < s.n - 1; ++i) bits += twenty_bits(i, of_x);
  for (const auto& [i, iteration] : ages.all()) bits += changed_bits(iteration) - twenty_bits(i, of_x);
  const double sum = static_cast<double>(s.n) + 0x1p-20 * static_cast<double>(bits);
  return fl::Check::of(std::fabs(s.result - sum) / sum, tolerance,
                       fl::text("sum of %lld elements is %.17g, should be %.17g", s.n, s.result, sum));
}

// Whether elements first to first + count are exactly right, all in one answer; count is a multiple of the width.
template <Op op>
bool exact(const State& s, fl::Index first, fl::Index count) {
  Eights x(first, of_x), y(first, of_y);
  decltype(Eights::Values{} != Eights::Values{}) differ{};
  for (fl::Index i = first; i < first + count; i += Eights::width) {
    Eights::Values found;
    std::memcpy(&found, s.out.data() + i, sizeof found);
    differ |= found != combine(op, x.next(), y.next());  // a NaN differs, too
  }
  for (fl::Index k = 0; k < Eights::width; ++k)
    if (differ[k] != 0) return false;
  return true;
}

// Nearly all elements are exactly right, so they are only compared; an error is computed for those that are not.
template <Op op>
fl::Check check_elements(const State& s, fl::Index last) {
  const fl::ChangeLog ages = ages_of(s, last);
  double worst = 0;
  fl::Index where = 0, wrong = 0;
  const auto look = [&](fl::Index i) {
    const double expected = wanted(s, ages, i, last);
    if (s.out[i] == expected) [[likely]]
      return;
    const double error = std::fabs(s.out[i] - expected) / expected;
    if (error <= tolerance) {
      worst = std::max(worst, error);
    } else if (wrong++ == 0) {
      where = i;
    }
  };
  constexpr fl::Index block = 64 * Eights::width;
  for (fl::Index first = 0; first < s.n - 1; first += block) {
    const fl::Index end = std::min(first + block, s.n - 1);
    if (end - first == block && !ages.any_in(first, end) && exact<op>(s, first, block)) continue;
    for (fl::Index i = first; i < end; ++i) look(i);
  }
  look(s.n - 1);
  if (wrong == 0) return fl::Check::of(worst, tolerance, fl::text("all %lld elements are right", s.n));
  const double expected = wanted(s, ages, where, last);
  return fl::Check::of(std::fabs(s.out[where] - expected) / expected, tolerance,
                       fl::text("%lld of %lld elements are wrong, the first at index %lld: %.17g, should be %.17g", wrong, s.n, where,
                                s.out[where], expected));
}

inline fl::Check check(State& s, fl::Index last) {
  if (s.fetch != nullptr) s.fetch(s);
  if (s.op == Op::load) return check_sum(s, last);
  return with_constant(s.op, [&]<Op op>() { return check_elements<op>(s, last); });
}

}  // namespace stream
