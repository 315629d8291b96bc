// circulant: C y = b, where each row of C is the one above moved by one. For tests of firstlight itself.
#pragma once

#include <cfloat>
#include <cmath>

#include "firstlight/workload.hpp"

namespace circulant {

struct Params {
  fl::Index n = 64;
  void declare(fl::Fields& fields) { fields.integer("n", n, "unknowns", 3, 1024, "how many"); }
};

struct State {
  fl::Array<double> x, b, y;
};

inline constexpr fl::About about{
    .title = "Circulant system",
    .cost = "n^2 operations",
    .verified = "against the solution that the right side was made from",
    .tolerance = "1000 eps",
};

inline constexpr fl::Metric metrics[] = {{"time", "us", "operations", "time", 1e6, "lower"}};

// The first column: its eigenvalues are between 2 and 6, all within a factor of 3.
inline double column(fl::Index n, fl::Index i) { return i == 0 ? 4 : i == 1 || i == n - 1 ? 1 : 0; }

inline void multiply(State& s) {
  const fl::Index n = s.x.size();
  for (fl::Index i = 0; i < n; ++i) s.b[i] = 4 * s.x[i] + s.x[(i + 1) % n] + s.x[(i + n - 1) % n];
}

inline void init(State& s, const Params& p, const fl::Team&) {
  s.x = fl::Array<double>(p.n);
  s.b = fl::Array<double>(p.n);
  s.y = fl::Array<double>(p.n);
  for (fl::Index i = 0; i < p.n; ++i) s.x[i] = fl::uniform(static_cast<std::uint64_t>(i));
  multiply(s);
}

inline fl::Cost cost(const Params& p, const fl::Team&) {
  const double n = static_cast<double>(p.n);
  return {.operations = n * n, .working_set = 24 * n};
}

inline double last(fl::Index iteration) { return 1 + static_cast<double>(iteration & 7); }

inline void mutate_inputs(State& s, fl::Index iteration) {
  s.x[s.x.size() - 1] = last(iteration);
  multiply(s);
}

inline void poison(State& s) { fl::poison(s.y.data(), s.y.size()); }

inline fl::Check check(State& s, fl::Index iteration) {
  double error = 0;
  for (fl::Index i = 0; i < s.x.size(); ++i) {
    const double right = i == s.x.size() - 1 ? last(iteration) : fl::uniform(static_cast<std::uint64_t>(i));
    const double off = std::abs(s.y[i] - right);
    if (!(off <= error)) error = off;
  }
  return fl::Check::of(error, 1000 * DBL_EPSILON, fl::text("an unknown is off by %.3g", error));
}

}  // namespace circulant
