// vectorise: small loops in one program, each with a class, a cost, a definition and a verdict of its own (R4).
//
// In the spirit of Callahan, Dongarra and Levine, "Vectorizing compilers: a test suite and results" (1988): dependence, control flow,
// reductions, strides, gather and scatter, two dimensions. A loop that works in place needs its vectors restored before each step.
#pragma once

#include <cmath>
#include <numeric>

#include "definitions.hpp"

namespace vectorise {

struct Params {
  std::string kernel = "plain_copy";
  fl::Index m = 32;
  void declare(fl::Fields& fields) {
    static const std::string names = fl::options(loops);
    fields.choice("kernel", kernel, names.c_str(), "which loop; its class is the word before the underline");
    fields.integer("m", m, "elements", 4, 1 << 10, "length of a row; vectors have m * m elements");
  }
};

inline constexpr fl::About about{
    .title = "Automatic vectorisation",
    .cost = "Each loop declares its own cost.",
    .verified = "Every element, compared with the definition of the loop",
    .tolerance = "Exact: whole numbers, or one correctly rounded operation",
};

inline constexpr fl::Metric metrics[] = {
    {"element_time", "ns", "elements", "time", 1e9, "lower"},
    {"rate", "Gflop/s", "flops", "rate", 1e-9, "higher"},
    {"bandwidth", "GB/s", "bytes", "rate", 1e-9, "higher"},
};

inline std::string refuse(const Params&, const fl::Team&) { return ""; }

inline void reset(State& s) {
  std::copy(s.x0.begin(), s.x0.end(), s.x.begin());
  std::copy(s.y0.begin(), s.y0.end(), s.y.begin());
}

inline void init(State& s, const Params& p, const fl::Team&) {
  s.m = p.m, s.n = p.m * p.m, s.kernel = p.kernel;
  for (auto* v : {&s.a, &s.b, &s.c, &s.d, &s.x, &s.y, &s.x0, &s.y0, &s.packed, &s.right}) *v = fl::Array<double>(s.n);
  for (auto* v : {&s.p, &s.inverse, &s.q, &s.rank}) *v = fl::Array<int>(s.n);
  std::uint64_t next = 0;
  for (auto* v : {&s.a, &s.b, &s.c, &s.x0, &s.y0})
    for (double& e : *v) e = static_cast<double>(fl::hash(next++) % 17) - 8;
  for (double& e : s.d) e = fl::hash(next++) % 2 == 0 ? 1 : -1;
  // Elements that loops take on their own: a zero there would hide that one was left out or taken twice.
  for (auto* v : {&s.a, &s.b, &s.c})
    for (const Index i : {s.n / 2, s.n - 1})
      if ((*v)[i] == 0) (*v)[i] = 5;
  s.changing = fl::InputMutator(s.n);
  s.changing.each_place([&](Index i) { s.a[i] = 1 + std::fabs(s.a[i]); });  // stays positive: packed and rank see no other places
  s.a[0] = s.k;
  Index stride = s.n * 5 / 8;
  while (std::gcd(stride, s.n) != 1) ++stride;
  Index positive = 0;
  for (Index i = 0; i < s.n; ++i) {
    s.p[i] = static_cast<int>((i * stride + 3) % s.n);
    s.q[i] = s.p[i] / 4;
    s.inverse[s.p[i]] = static_cast<int>(i);
    s.rank[i] = static_cast<int>(positive);
    if (s.a[i] > 0) s.packed[positive++] = s.a[i];
  }
  std::copy(s.x0.begin() + positive, s.x0.end(), s.packed.begin() + positive);
  reset(s);
}

inline fl::Cost cost(const Params& p, const fl::Team&) {
  const Loop& l = loop(p.kernel);
  const auto n = static_cast<double>(p.m * p.m);
  return {.flops = l.flops * n, .bytes = l.bytes * n, .elements = n, .working_set = l.bytes * n};
}

// The scalar and the first element in each step; elsewhere, where no step can know it, one element now and then.
inline void mutate_inputs(State& s, fl::Index iteration) {
  s.changing.mutate_inputs(iteration, [&](fl::Index i) {
    s.a[i] = s.packed[s.rank[i]] = 1 + static_cast<double>(fl::hash(static_cast<std::uint64_t>(iteration)) & 7);
  });
  s.a[0] = s.packed[0] = s.k = 2 + static_cast<double>(iteration & 7);
}

inline fl::Index mutate_between_batches(State& s, fl::Index next) {
  return s.changing.mutate_between_batches(next, [&](fl::Index iteration) { mutate_inputs(s, iteration); });
}

inline void poison(State& s) {
  fl::poison(s.x.data(), s.n);
  fl::poison(s.y.data(), s.n);
}

inline fl::Check check(State& s, fl::Index) {
  const Loop& l = loop(s.kernel);
  std::copy(s.x0.begin(), s.x0.end(), s.right.begin());
  double* right = s.right.data();
  for (Index k = 0; k < s.n; ++k) {
    const Index i = l.order == Order::down ? s.n - 1 - k : k;
    right[l.order == Order::fold ? 0 : i] = l.right(s, i, right);
  }
  for (Index i = 0; i < s.n; ++i)
    if (!(s.x[i] == right[i]))
      return fl::Check::of(s.x[i] - right[i], 0, fl::text("%s: x[%lld] is %.17g, should be %.17g", l.name, i, s.x[i], right[i]));
  return fl::Check::of(0, 0, fl::text("%s: all %lld elements agree", l.name, s.n));
}

}  // namespace vectorise
