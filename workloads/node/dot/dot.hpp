// dot: s = sum x_i y_i (R1, "DSCAPR"). 2 n flops, 16 n bytes: 0.125 flops a byte, the roofline of each cache level.
#pragma once

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>

#include "firstlight/workload.hpp"

namespace dot::inline FL_ROLE {

struct Params {
  fl::Index n = 1000;
  void declare(fl::Fields& fields) { fields.integer("n", n, "elements", 1, fl::Index{1} << 34, "length of both vectors"); }
};

struct Traits {
  bool compensated = false;  // it promises an error independent of n, is held to it, and gets the input that tells
};

struct State {
  fl::Array<double> x, y;
  double result = 0;
  bool compensated = false;
  fl::Team team;
};

inline constexpr fl::About about{
    .title = "Scalar product",
    .cost = "2 n flops and 16 n bytes read",
    .verified =
        "against the exact sum in integers; compensated variants against long double on a few ones among terms of 1.1e-16, which plain "
        "summation loses",
    .tolerance = "n eps sum |x_i y_i|; compensated 3 eps sum |x_i y_i|",
};

inline constexpr fl::Metric metrics[] = {{"rate", "Gflop/s", "flops", "rate", 1e-9, "higher"}};

// Below half an ulp of 1, so that adding it to a sum of 1 or more changes nothing.
inline constexpr double lost_term = 1.1e-16;

// As many ones at the front as a vectorised loop may have accumulators, so that each of them loses its small terms.
inline fl::Index ones(fl::Index n) { return std::clamp<fl::Index>(n / 16, 1, 64); }

inline double x_value(const State& s, fl::Index i) {
  if (s.compensated) return i < ones(s.x.size()) ? 1.0 : lost_term;
  return fl::uniform(2 * static_cast<std::uint64_t>(i));
}

// The last element of y follows the iteration.
inline double y_value(const State& s, fl::Index i, fl::Index iteration) {
  if (i == s.y.size() - 1) return 1.0 + 0x1p-20 * static_cast<double>(iteration & 1023);
  return s.compensated ? 1.0 : fl::uniform(2 * static_cast<std::uint64_t>(i) + 1);
}

inline void fill(State& s) {
  for (fl::Index i = 0; i < s.x.size(); ++i) {
    s.x[i] = x_value(s, i);
    s.y[i] = y_value(s, i, 0);
  }
}

inline void init(State& s, const Params& p, const fl::Team& team, const Traits& traits) {
  s.team = team;
  s.compensated = traits.compensated;
  s.x = fl::Array<double>(p.n);
  s.y = fl::Array<double>(p.n);
  fl::first_touch(&s);
  fill(s);
}

inline fl::Cost cost(const Params& p, const fl::Team&) {
  const auto n = static_cast<double>(p.n);
  return {.flops = 2 * n, .bytes = 16 * n, .working_set = 16 * n};
}

// One element at the end: a store just ahead of the first loads would stall them.
inline void touch(State& s, fl::Index iteration) { s.y[s.y.size() - 1] = 1.0 + 0x1p-20 * static_cast<double>(iteration & 1023); }

inline void poison(State& s) { fl::poison(&s.result, 1); }

// What the sum must be, and the sum of the terms' magnitudes, from the index functions and not from the arrays: a step that spoils
// its inputs is caught too.
struct Expected {
  long double sum = 0;
  long double magnitude = 0;
};

// fl::uniform() in units of 2^-53.
inline std::int64_t units(std::uint64_t index) { return static_cast<std::int64_t>(fl::hash(index) >> 11) - (std::int64_t{1} << 52); }

// Every input is a whole number of 2^-53, so the sum of the products is one of 2^-106: summed in integers, without any rounding, and
// in two parts because 2^34 products of 106 bits exceed 128.
inline Expected expected_exactly(const State& s, fl::Index last) {
  constexpr fl::Index block = 4096;  // of products that 128 bits hold
  constexpr int low_bits = 40;
  const fl::Index n = s.x.size();
  __int128 high = 0, low = 0;
  Expected expected;
  const auto add = [&](__int128 sum, __int128 magnitude) {
    high += sum >> low_bits;
    low += sum & ((__int128{1} << low_bits) - 1);
    expected.magnitude += 0x1p-106L * static_cast<long double>(magnitude);
  };
  for (fl::Index first = 0; first < n - 1; first += block) {
    __int128 sum = 0, magnitude = 0;
    for (fl::Index i = first; i < std::min(first + block, n - 1); ++i) {
      const auto index = 2 * static_cast<std::uint64_t>(i);
      const __int128 product = static_cast<__int128>(units(index)) * units(index + 1);
      sum += product;
      magnitude += product < 0 ? -product : product;
    }
    add(sum, magnitude);
  }
  const auto last_y = static_cast<std::int64_t>(0x1p53 * y_value(s, n - 1, last));
  const __int128 product = static_cast<__int128>(units(2 * static_cast<std::uint64_t>(n - 1))) * last_y;
  add(product, product < 0 ? -product : product);
  expected.sum = 0x1p-106L * (0x1p40L * static_cast<long double>(high) + static_cast<long double>(low));
  return expected;
}

// Terms of 1.1e-16 are no such multiples. Compensated too: 10^5 of them on a sum of 64 would cost plain long double as much as the
// tolerance.
inline Expected expected_compensated(const State& s, fl::Index last) {
  long double lost = 0;
  Expected expected;
  for (fl::Index i = 0; i < s.x.size(); ++i) {
    const long double term = static_cast<long double>(x_value(s, i)) * static_cast<long double>(y_value(s, i, last));
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
  const double scale = (s.compensated ? 3.0 : static_cast<double>(n)) * DBL_EPSILON;
  const double error = static_cast<double>(std::fabs(static_cast<long double>(s.result) - expected.sum));
  return fl::Check::of(error, scale * static_cast<double>(expected.magnitude),
                       fl::text("sum of %lld products is %.17g, should be %.17Lg", n, s.result, expected.sum));
}

}  // namespace dot::inline FL_ROLE
