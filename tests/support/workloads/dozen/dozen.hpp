// dozen: twelve loops in one program, each with its own cost and oracle. For tests of firstlight itself.
#pragma once

#include <vector>

#include "firstlight/workload.hpp"

namespace dozen {

// Whole numbers, so that every sum is exact in any order.
struct State {
  fl::Array<double> a, b, y;
  fl::Index n = 0;
  std::string kernel;
};

struct Loop {
  const char* name;
  double flops, bytes;  // an element
  bool scalar;          // one result, in y[0]
  double (*right)(const State& s, fl::Index i);
};

template <class Term>
double summed(fl::Index end, Term term) {
  double sum = 0;
  for (fl::Index i = 0; i < end; ++i) sum += term(i);
  return sum;
}

inline constexpr Loop loops[] = {
    {"copy", 0, 16, false, [](const State& s, fl::Index i) { return s.a[i]; }},
    {"scale", 1, 16, false, [](const State& s, fl::Index i) { return 3 * s.a[i]; }},
    {"add", 1, 24, false, [](const State& s, fl::Index i) { return s.a[i] + s.b[i]; }},
    {"triad", 2, 24, false, [](const State& s, fl::Index i) { return s.a[i] + 3 * s.b[i]; }},
    {"product", 1, 24, false, [](const State& s, fl::Index i) { return s.a[i] * s.b[i]; }},
    {"reverse", 0, 16, false, [](const State& s, fl::Index i) { return s.a[s.n - 1 - i]; }},
    {"difference", 1, 16, false, [](const State& s, fl::Index i) { return i == 0 ? s.a[0] : s.a[i] - s.a[i - 1]; }},
    {"positive", 0, 16, false, [](const State& s, fl::Index i) { return s.a[i] > 0 ? s.a[i] : 0; }},
    {"prefix", 1, 16, false, [](const State& s, fl::Index i) { return summed(i + 1, [&](fl::Index k) { return s.a[k]; }); }},
    {"sum", 1, 8, true, [](const State& s, fl::Index) { return summed(s.n, [&](fl::Index k) { return s.a[k]; }); }},
    {"dot", 2, 16, true, [](const State& s, fl::Index) { return summed(s.n, [&](fl::Index k) { return s.a[k] * s.b[k]; }); }},
    {"norm", 2, 8, true, [](const State& s, fl::Index) { return summed(s.n, [&](fl::Index k) { return s.a[k] * s.a[k]; }); }},
};

inline const Loop& loop(const std::string& kernel) {
  const Loop* found = loops;
  while (kernel != found->name) ++found;
  return *found;
}

struct Params {
  std::string kernel = "copy";
  fl::Index n = 100;
  void declare(fl::Fields& fields) {
    static const std::string names = fl::options(loops);
    fields.choice("kernel", kernel, names.c_str(), "which loop");
    fields.integer("n", n, "elements", 1, 1 << 20, "length of the vectors");
  }
};

inline constexpr fl::About about{
    .title = "A dozen loops",
    .cost = "of each loop its own",
    .verified = "every element against the loop's definition",
    .tolerance = "exact",
};

inline constexpr fl::Metric metrics[] = {
    {"rate", "Gflop/s", "flops", "rate", 1e-9, "higher"},
    {"bandwidth", "GB/s", "bytes", "rate", 1e-9, "higher"},
};

inline void init(State& s, const Params& p, const fl::Team&) {
  s.n = p.n, s.kernel = p.kernel;
  for (fl::Array<double>* x : {&s.a, &s.b, &s.y}) *x = fl::Array<double>(p.n);
  for (fl::Index i = 0; i < p.n; ++i) {
    s.a[i] = static_cast<double>(fl::hash(static_cast<std::uint64_t>(i)) % 17) - 8;
    s.b[i] = static_cast<double>(fl::hash(static_cast<std::uint64_t>(i)) % 13) - 6;
  }
}

inline fl::Cost cost(const Params& p, const fl::Team&) {
  const Loop& l = loop(p.kernel);
  const auto n = static_cast<double>(p.n);
  return {.flops = l.flops * n, .bytes = l.bytes * n, .working_set = l.bytes * n};
}

inline void mutate_inputs(State& s, fl::Index iteration) { s.a[0] = 2 + static_cast<double>(iteration & 7); }

inline void poison(State& s) { fl::poison(s.y.data(), s.n); }

inline fl::Check check(State& s, fl::Index) {
  const Loop& l = loop(s.kernel);
  for (fl::Index i = 0; i < (l.scalar ? 1 : s.n); ++i)
    if (const double right = l.right(s, i); !(s.y[i] == right))
      return fl::Check::of(s.y[i] - right, 0, fl::text("%s: y[%lld] is %.17g, should be %.17g", l.name, i, s.y[i], right));
  return fl::Check::of(0, 0, fl::text("%s as it should be", l.name));
}

}  // namespace dozen
