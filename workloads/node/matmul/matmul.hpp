// matmul: C = s A B of n x n matrices, s another number in every step. 2 n^3 flops on 3 n^2 elements: the one kernel of the node that a
// processor's arithmetic alone bounds, and what the loops as written are farthest from (R4).
#pragma once

#include <bit>

#include "firstlight/error_summary.hpp"
#include "firstlight/input_mutator.hpp"
#include "values.hpp"

namespace matmul {

using fl::Index;

struct Params {
  Index n = 100, precision = 64;
  void declare(fl::Fields& fields) {
    fields.integer("n", n, "rows", 1, 65536, "rows and columns of each matrix");
    fields.integer("precision", precision, "bit", 32, 64, "width of the numbers: 32 or 64");
  }
};

template <class T>
struct Matrices {
  fl::Array<T> a, b, c;  // rows one after the other
};

struct State {
  Index n = 0, precision = 64;
  Matrices<float> singles;
  Matrices<double> doubles;
  double factor = 1;
  fl::InputMutator changing;  // of A's elements
  Index renewed = -1;         // the last iteration before this batch
  fl::Team team;
  // Variants on a device set these. fetch() copies C from the device before a check; poisoned() poisons it there after poison(); changed()
  // copies element i of A to the device, where A changes between batches only.
  void (*fetch)(State&) = nullptr, (*poisoned)(State&) = nullptr, (*changed)(State&, Index) = nullptr;
  void* object = nullptr;  // of theirs
};

inline constexpr fl::About about{
    .title = "Matrix times matrix",
    .cost = "2 n^3 flops; at least 3 n^2 elements are read or written",
    .verified =
        "Every element, exactly: inputs are whole numbers whose sums are exact in any order. Up to n = 64 compared with the sums "
        "themselves; beyond, each row of C times a random vector x with A (B x), in integers modulo the prime 2^61 - 1.",
    .tolerance = "Exact. A row with one wrong element is always detected, a row with several with probability 1 - 2^-60.",
};

inline constexpr fl::Metric metrics[] = {{"rate", "Gflop/s", "flops", "rate", 1e-9, "higher"}};

inline std::string refuse(const Params& p, const fl::Team&) {
  if (p.precision != 32 && p.precision != 64) return "precision must be 32 or 64";
  if (p.precision == 32 && p.n > most_exact_32) return fl::text("in 32 bit sums are exact up to n = %lld only", most_exact_32);
  return "";
}

// Calls f(matrices, factor) in the requested precision.
template <class F>
[[gnu::always_inline]] inline void in_precision(State& s, F f) {
  if (s.precision == 32)
    f(s.singles, static_cast<float>(s.factor));
  else
    f(s.doubles, s.factor);
}

inline Values values(const State& s) { return {s.n, s.precision}; }

inline void init(State& s, const Params& p, const fl::Team& team) {
  s.n = p.n, s.precision = p.precision, s.team = team;
  in_precision(s, [&](auto& m, auto) {
    for (auto* matrix : {&m.a, &m.b, &m.c}) *matrix = std::remove_reference_t<decltype(*matrix)>(s.n * s.n);
  });
  // A step reads all of A, so one store before it does not count.
  s.changing = fl::InputMutator(s.n * s.n, fl::InputMutator::most, true);
  fl::first_touch(&s);
  const Values v = values(s);
  std::vector<std::int64_t> row(static_cast<std::size_t>(s.n));
  in_precision(s, [&](auto& m, auto) {
    using T = std::remove_reference_t<decltype(m.a[0])>;
    for (Index i = 0; i < s.n; ++i) {
      v.row_of_a(i, row.data());
      std::transform(row.begin(), row.end(), m.a.data() + i * s.n, [](std::int64_t x) { return static_cast<T>(x); });
      v.row_of_b(i, row.data());
      std::transform(row.begin(), row.end(), m.b.data() + i * s.n, [](std::int64_t x) { return static_cast<T>(x); });
    }
  });
}

inline fl::Cost cost(const Params& p, const fl::Team&) {
  const auto n = static_cast<double>(p.n), bytes = 3 * n * n * static_cast<double>(p.precision) / 8;
  return {.flops = 2 * n * n * n, .bytes = bytes, .working_set = bytes};
}

// s = mantissa 2^exponent, of 4096 values cyclically.
inline std::int64_t mantissa(Index iteration) { return least_mantissa + (iteration & (least_mantissa - 1)); }
inline int exponent(Index iteration) { return static_cast<int>(iteration >> 5 & 127) - 64; }
inline double power_of_two(int exponent) { return std::bit_cast<double>(static_cast<std::uint64_t>(1023 + exponent) << 52); }

inline void change(State& s, Index i, Index iteration) {
  in_precision(s, [&](auto& m, auto) { m.a[i] = static_cast<std::remove_reference_t<decltype(m.a[i])>>(changed(iteration)); });
}

inline void mutate_inputs(State& s, Index iteration) {
  s.factor = static_cast<double>(mantissa(iteration)) * power_of_two(exponent(iteration));
  if (s.changed == nullptr) s.changing.mutate_inputs(iteration, [&](Index i) { change(s, i, iteration); });
}

inline Index mutate_between_batches(State& s, Index next) {
  const Index first = s.changing.mutate_between_batches(next, [&](Index iteration) {
    s.changing.mutate_inputs(iteration, [&](Index i) {
      change(s, i, iteration);
      if (s.changed != nullptr) s.changed(s, i);
    });
  });
  s.renewed = first - 1;
  return first;
}

inline void poison(State& s) {
  fl::poison(s.singles.c.data(), s.singles.c.size());
  fl::poison(s.doubles.c.data(), s.doubles.c.size());
  if (s.poisoned != nullptr) s.poisoned(s);
}

// What C must be, from the index functions and not from the arrays: a step that spoils its inputs is caught, too.
class Judge {
 public:
  Judge(const State& s, Index last)
      : n_(s.n),
        values_(values(s)),
        ages_(s.changing, s.changed == nullptr ? last : s.renewed),
        mantissa_(mantissa(last)),
        unit_(power_of_two(exponent(last))),
        beyond_(beyond_any(s.precision)),
        row_(static_cast<std::size_t>(n_)),
        random_(row_.size()),
        product_(row_.size()) {
    for (std::size_t j = 0; j < random_.size(); ++j)
      random_[j] = 1 + static_cast<std::int64_t>(fl::hash(fl::seed() ^ fl::hash(j)) % static_cast<std::uint64_t>(prime - 1));
    for (Index k = 0; k < n_; ++k) {
      values_.row_of_b(k, row_.data());
      product_[static_cast<std::size_t>(k)] = times(row_, random_);
    }
  }

  template <class T>
  fl::Check check(const fl::Array<T>& c) {
    fl::ErrorSummary damage;
    for (Index i = 0; i < n_; ++i)
      if (n_ <= one_by_one ? wrong_element(c.data() + i * n_, i) >= 0 : !row_agrees(c.data() + i * n_, i))
        damage.add([&] { return sentence(c.data() + i * n_, i); });
    return damage.check(fl::text("all %lld elements are exactly right", n_ * n_));
  }

 private:
  static constexpr Index one_by_one = 64;
  static constexpr std::int64_t prime = (std::int64_t{1} << 61) - 1;
  using Row = std::vector<std::int64_t>;
  __extension__ using Wide = __int128;  // contains 2^16 products of 2^50 and the prime

  // Modulo the prime: 0 to prime - 1.
  static std::int64_t remainder(Wide sum) {
    const auto r = static_cast<std::int64_t>(sum % prime);
    return r < 0 ? r + prime : r;
  }
  static std::int64_t times(const Row& row, const Row& x) {
    Wide sum = 0;
    for (std::size_t k = 0; k < x.size(); ++k) sum += static_cast<Wide>(row[k]) * x[k];
    return remainder(sum);
  }

  // Sets row i of A as it was in the step that is judged, times the mantissa of s.
  void set_row_of_a(Index i) {
    values_.row_of_a(i, row_.data());
    if (ages_.any_in(i * n_, (i + 1) * n_))
      for (Index k = 0; k < n_; ++k)
        if (const Index iteration = ages_.of(i * n_ + k, -1); iteration >= 0) row_[static_cast<std::size_t>(k)] = changed(iteration);
    for (auto& a : row_) a *= mantissa_;
  }

  template <class T>
  bool row_agrees(const T* c, Index i) {
    set_row_of_a(i);
    const std::int64_t wanted = times(row_, product_);
    for (Index j = 0; j < n_; ++j) {
      const double whole = static_cast<double>(c[j]) / unit_;
      if (!(std::fabs(whole) < beyond_) || std::trunc(whole) != whole) return false;
      row_[static_cast<std::size_t>(j)] = static_cast<std::int64_t>(whole);
    }
    return times(row_, random_) == wanted;
  }

  // The first wrong element of row i, by the sums themselves; -1 where there is none. What it should be is in wanted_.
  template <class T>
  Index wrong_element(const T* c, Index i) {
    set_row_of_a(i);
    wanted_.assign(row_.size(), 0);
    Row of_b(row_.size());
    for (Index k = 0; k < n_; ++k) {
      values_.row_of_b(k, of_b.data());
      for (std::size_t j = 0; j < of_b.size(); ++j) wanted_[j] += row_[static_cast<std::size_t>(k)] * of_b[j];
    }
    for (Index j = 0; j < n_; ++j)
      if (!(static_cast<double>(c[j]) == unit_ * static_cast<double>(wanted_[static_cast<std::size_t>(j)]))) return j;
    return -1;
  }

  template <class T>
  std::string sentence(const T* c, Index i) {
    const Index j = wrong_element(c, i);
    if (j < 0) return fl::text("row %lld of C times a random vector is wrong", i);
    return fl::text("element (%lld, %lld) is %.17g, should be %.17g", i, j, static_cast<double>(c[j]),
                    unit_ * static_cast<double>(wanted_[static_cast<std::size_t>(j)]));
  }

  Index n_;
  Values values_;
  fl::ChangeLog ages_;
  std::int64_t mantissa_;
  double unit_;    // s = mantissa * unit
  double beyond_;  // in units, what no element of C comes to
  Row row_, wanted_;
  Row random_, product_;  // x and B x
};

inline fl::Check check(State& s, Index last) {
  if (s.fetch != nullptr) s.fetch(s);
  Judge judge(s, last);
  return s.precision == 32 ? judge.check(s.singles.c) : judge.check(s.doubles.c);
}

}  // namespace matmul
