// dot: s = sum x_i y_i (R1, "DSCAPR"). 2 n flops, 16 n bytes: 0.125 flops a byte, the roofline of each cache level.
#pragma once

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>

#include "firstlight/input_mutator.hpp"
#include "firstlight/workload.hpp"

namespace dot {

struct Params {
  fl::Index n = 1000;
  void declare(fl::Fields& fields) { fields.integer("n", n, "elements", 1, fl::Index{1} << 34, "length of both vectors"); }
};

struct Traits {
  bool compensated = false;  // it promises an error independent of n, is checked for it, and gets the input that shows it
};

struct State {
  fl::Array<double> x, y;
  double result = 0;
  bool compensated = false;
  fl::InputMutator changing;  // of all elements but the last
  fl::Team team;
};

inline constexpr fl::About about{
    .title = "Scalar product",
    .cost = "2 n flops and 16 n bytes read",
    .verified =
        "Compared bit by bit with a sum of whole numbers, which is exact in any order. Compensated variants: compared with long "
        "double for a few ones among terms of 1.1e-16, which plain summation loses.",
    .tolerance = "Exact; compensated variants 3 eps sum |x_i y_i|",
};

inline constexpr fl::Metric metrics[] = {{"rate", "Gflop/s", "flops", "rate", 1e-9, "higher"}};

// Below half an ulp of 1, so that adding it to a sum of 1 or more changes nothing.
inline constexpr double lost_term = 1.1e-16;

// As many ones at the front as a vectorised loop may have accumulators, so that each of them loses its small terms.
inline fl::Index ones(fl::Index n) { return std::clamp<fl::Index>(n / 16, 1, 64); }

// A whole number of magnitude 1 to 256: no term is 0, and no partial sum of 2^34 products exceeds 2^50, so none is ever rounded.
inline std::int64_t whole(std::uint64_t index) {
  const std::uint64_t h = fl::hash(index);
  const auto magnitude = static_cast<std::int64_t>(h & 0xFF) + 1;
  return (h & 0x100) != 0 ? -magnitude : magnitude;
}

inline std::int64_t whole_x(fl::Index i) { return whole(2 * static_cast<std::uint64_t>(i)); }
inline std::int64_t whole_y(fl::Index i) { return whole(2 * static_cast<std::uint64_t>(i) + 1); }

// What an element that changes holds follows the iteration, and comes back after more steps than a batch has.
inline std::int64_t stamp(fl::Index iteration) { return iteration & 0xFFFFFFFF; }
inline std::int64_t whole_changed(fl::Index iteration) { return 1 + stamp(iteration); }
inline double compensated_changed(fl::Index iteration) { return 1.0 + 0x1p-32 * static_cast<double>(stamp(iteration)); }

// The last of y changes with every step, and alternately another one: of x where its number is odd, so that no term has two that change.
inline bool changes_in_x(fl::Index i) { return (i & 1) != 0; }

// The last term of a compensated sum is a one as well, or the check could not see whether it is this step's.
inline bool one(fl::Index i, fl::Index n) { return i < ones(n) || i == n - 1; }

// A term that plain summation loses becomes one that it does not lose, and that stays small compared with the ones.
inline double compensated_y(fl::Index i, fl::Index n, fl::Index iteration) {
  return compensated_changed(iteration) * (one(i, n) ? 1.0 : 0x1p-10 / lost_term);
}

inline void fill(State& s) {
  const fl::Index n = s.x.size();
  for (fl::Index i = 0; i < n; ++i) {
    s.x[i] = !s.compensated ? static_cast<double>(whole_x(i)) : one(i, n) ? 1.0 : lost_term;
    s.y[i] = !s.compensated ? static_cast<double>(whole_y(i)) : 1.0;
  }
}

inline void init(State& s, const Params& p, const fl::Team& team, const Traits& traits) {
  s.team = team;
  s.compensated = traits.compensated;
  s.x = fl::Array<double>(p.n);
  s.y = fl::Array<double>(p.n);
  s.changing = fl::InputMutator(p.n - 1, traits.compensated ? std::max<fl::Index>(p.n / 32, 1) : fl::InputMutator::most);
  fl::first_touch(&s);
  fill(s);
}

inline fl::Cost cost(const Params& p, const fl::Team&) {
  const auto n = static_cast<double>(p.n);
  return {.flops = 2 * n, .bytes = 16 * n, .working_set = 16 * n};
}

// One element at the end: a store just ahead of the first loads would stall them.
inline void mutate_inputs(State& s, fl::Index iteration) {
  const fl::Index n = s.x.size();
  if (s.compensated) {
    s.y[n - 1] = compensated_changed(iteration);
    s.changing.mutate_inputs(iteration, [&](fl::Index i) { s.y[i] = compensated_y(i, n, iteration); });
    return;
  }
  const auto now = static_cast<double>(whole_changed(iteration));
  s.y[n - 1] = now;
  s.changing.mutate_inputs(iteration, [&](fl::Index i) { (changes_in_x(i) ? s.x : s.y)[i] = now; });
}

inline fl::Index mutate_between_batches(State& s, fl::Index next) {
  return s.changing.mutate_between_batches(next, [&](fl::Index iteration) { mutate_inputs(s, iteration); });
}

inline void poison(State& s) { fl::poison(&s.result, 1); }

// What the sum must be, and the sum of the terms' magnitudes, from the index functions and not from the arrays: a step that spoils
// its inputs is caught too.
struct Expected {
  long double sum = 0;
  long double magnitude = 0;
};

inline Expected expected_exactly(const State& s, fl::Index last) {
  const fl::Index n = s.x.size();
  std::int64_t sum = whole_x(n - 1) * whole_changed(last);
  for (fl::Index i = 0; i < n - 1; ++i) sum += whole_x(i) * whole_y(i);
  const fl::ChangeLog ages(s.changing, last);
  for (const auto& [i, iteration] : ages.all()) {
    const std::int64_t x = whole_x(i), y = whole_y(i), now = whole_changed(iteration);
    sum += (changes_in_x(i) ? now * y : x * now) - x * y;
  }
  return {.sum = static_cast<long double>(sum)};
}

// Terms of 1.1e-16 are not whole numbers. The oracle compensates too: 10^5 of them on a sum of 64 would cost plain long double as much
// as the tolerance.
inline Expected expected_compensated(const State& s, fl::Index last) {
  const fl::Index n = s.x.size();
  const fl::ChangeLog ages(s.changing, last);
  long double lost = 0;
  Expected expected;
  for (fl::Index i = 0; i < n; ++i) {
    const fl::Index iteration = i == n - 1 ? last : ages.of(i, -1);
    const double y = iteration < 0 ? 1.0 : compensated_y(i, n, iteration);
    const long double term = static_cast<long double>(one(i, n) ? 1.0 : lost_term) * static_cast<long double>(y);
    const long double corrected = term - lost;
    const long double next = expected.sum + corrected;
    lost = (next - expected.sum) - corrected;
    expected.sum = next;
    expected.magnitude += std::fabs(term);
  }
  return expected;
}

inline fl::Check check(State& s, fl::Index last) {
  const fl::Index n = s.x.size();
  const Expected expected = s.compensated ? expected_compensated(s, last) : expected_exactly(s, last);
  const double error = static_cast<double>(std::fabs(static_cast<long double>(s.result) - expected.sum));
  const double allowed = s.compensated ? 3.0 * DBL_EPSILON * static_cast<double>(expected.magnitude) : 0.0;
  return fl::Check::of(error, allowed, fl::text("sum of %lld products is %.17g, should be %.17Lg", n, s.result, expected.sum));
}

}  // namespace dot
