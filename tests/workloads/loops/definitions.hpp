// Every loop's definition: what element i of x shall be, given the inputs, x and y as they were before, and the elements defined so far.
#pragma once

#include <algorithm>
#include <cmath>

#include "state.hpp"

namespace loops::inline FL_ROLE {

using fl::Index;

enum class Order {
  up,    // element by element from 0; done[i - 1] is there
  down,  // from the last one; done[i + 1] is there
  fold,  // one result: done[0] of the elements so far becomes done[0]; all other elements stay
};

struct Loop {
  const char* name;
  double flops, bytes;  // an element
  Order order;
  double (*right)(const State& s, Index i, const double* done);
};

inline double number(Index i) { return static_cast<double>(i); }
// Element i of a sum whose elements so far have the sum done[0].
inline double plus(Index i, const double* done, double term) { return i == 0 ? term : done[0] + term; }
// In rows of m: from an index to the place, and whether that is inside by one.
inline bool inside(const State& s, Index i) { return i >= s.m && i < s.n - s.m && i % s.m > 0 && i % s.m < s.m - 1; }
inline Index turned(const State& s, Index i) { return i % s.m * s.m + i / s.m; }
template <class Term>
double over_m(const State& s, Term term) {
  double sum = 0;
  for (Index j = 0; j < s.m; ++j) sum += term(j);
  return sum;
}

// clang-format off
#define IS(...) [](const State& s [[maybe_unused]], Index i [[maybe_unused]], const double* done [[maybe_unused]]) -> double { return __VA_ARGS__; }
inline constexpr Loop loops[] = {
    // each element on its own
    {"copy", 0, 16, Order::up, IS(s.a[i])},
    {"scale", 1, 16, Order::up, IS(s.k * s.a[i])},
    {"add", 1, 24, Order::up, IS(s.a[i] + s.b[i])},
    {"subtract", 1, 24, Order::up, IS(s.a[i] - s.b[i])},
    {"multiply", 1, 24, Order::up, IS(s.a[i] * s.b[i])},
    {"triad", 2, 24, Order::up, IS(s.a[i] + s.k * s.b[i])},
    {"axpy", 2, 24, Order::up, IS(s.x0[i] + s.k * s.a[i])},
    {"multiply_add", 2, 32, Order::up, IS(s.a[i] * s.b[i] + s.c[i])},
    {"polynomial", 4, 32, Order::up, IS((s.a[i] * s.k + s.b[i]) * s.k + s.c[i])},
    {"square", 1, 16, Order::up, IS(s.a[i] * s.a[i])},
    {"negate", 1, 16, Order::up, IS(-s.a[i])},
    {"average", 2, 24, Order::up, IS((s.a[i] + s.b[i]) / 2)},
    {"fill", 0, 8, Order::up, IS(s.k)},
    {"ramp", 0, 8, Order::up, IS(number(i))},
    {"temporary", 2, 24, Order::up, IS((s.a[i] + s.b[i]) * (s.a[i] + s.b[i]))},
    {"two_results", 2, 40, Order::up, IS((s.a[i] + s.b[i]) * s.c[i])},
    {"unrolled_2", 1, 16, Order::up, IS(s.k * s.a[i])},
    {"unrolled_5", 2, 24, Order::up, IS(s.x0[i] + s.k * s.a[i])},
    {"weighted", 1, 16, Order::up, IS(s.a[i] * number(i))},
    // dependence between iterations, true and seeming
    {"shift_down", 0, 16, Order::up, IS(i + 1 < s.n ? s.a[i + 1] : s.x0[i])},
    {"shift_up", 0, 16, Order::up, IS(i > 0 ? s.a[i - 1] : s.x0[i])},
    {"anti", 1, 24, Order::up, IS(i + 1 < s.n ? s.x0[i + 1] + s.a[i] : s.x0[i])},
    {"anti_far", 1, 24, Order::up, IS(i + 4 < s.n ? s.x0[i + 4] + s.a[i] : s.x0[i])},
    {"recurrence", 1, 24, Order::up, IS(i > 0 ? done[i - 1] + s.a[i] : s.x0[i])},
    {"recurrence_signed", 2, 32, Order::up, IS(i > 0 ? s.d[i] * done[i - 1] + s.a[i] : s.x0[i])},
    {"recurrence_second", 2, 32, Order::up, IS(i > 1 ? s.d[i] * done[i - 2] + s.a[i] : s.x0[i])},
    {"recurrence_4", 1, 24, Order::up, IS(i > 3 ? done[i - 4] + s.a[i] : s.x0[i])},
    {"recurrence_16", 1, 24, Order::up, IS(i > 15 ? done[i - 16] + s.a[i] : s.x0[i])},
    {"recurrence_down", 1, 24, Order::down, IS(i + 1 < s.n ? done[i + 1] + s.a[i] : s.x0[i])},
    {"anti_down", 1, 24, Order::up, IS(i > 0 ? s.x0[i - 1] + s.a[i] : s.x0[i])},
    {"reverse", 0, 16, Order::up, IS(s.a[s.n - 1 - i])},
    {"reverse_add", 1, 24, Order::up, IS(s.a[s.n - 1 - i] + s.b[i])},
    {"crossing", 1, 24, Order::up, IS((s.n - 1 - i < i ? done[s.n - 1 - i] : s.x0[s.n - 1 - i]) + s.a[i])},
    {"middle", 1, 16, Order::up, IS((i > s.n / 2 ? done[s.n / 2] : s.x0[s.n / 2]) + s.a[i])},
    {"first", 1, 16, Order::up, IS(i > 0 ? s.x0[0] + s.a[i] : s.x0[i])},
    {"distribution", 2, 40, Order::up, IS(i > 0 ? (i > 1 ? s.a[i - 1] + s.b[i - 1] : s.y0[0]) * s.c[i] : s.x0[i])},
    {"reordering", 2, 40, Order::up, IS(i == 0 || i + 1 == s.n ? s.x0[i] : (i > 1 ? s.y0[i - 1] - s.b[i - 1] : s.y0[0]) + s.a[i])},
    {"splitting", 1, 32, Order::up, IS(i + 1 < s.n ? s.x0[i + 1] + s.a[i] : s.x0[i])},
    {"carried", 1, 16, Order::up, IS(s.a[i] + s.a[(i + s.n - 1) % s.n])},
    {"carried_2", 2, 16, Order::up, IS(s.a[i] + s.a[(i + s.n - 1) % s.n] + s.a[(i + s.n - 2) % s.n])},
    {"induction", 1, 16, Order::up, IS(s.a[i] * number(2 * i + 2))},
    {"induction_square", 0, 8, Order::up, IS(number(i * (i + 1) / 2))},
    // control flow
    {"positive", 0, 16, Order::up, IS(s.a[i] > 0 ? s.a[i] : 0)},
    {"masked", 0, 24, Order::up, IS(s.a[i] > 0 ? s.b[i] : s.x0[i])},
    {"masked_add", 1, 32, Order::up, IS(s.b[i] > 0 ? s.x0[i] + s.a[i] : s.x0[i])},
    {"either", 1, 32, Order::up, IS(s.a[i] > s.b[i] ? s.a[i] + s.c[i] : s.b[i] - s.c[i])},
    {"clamp", 0, 16, Order::up, IS(std::clamp(s.a[i], -2.0, 2.0))},
    {"larger", 0, 24, Order::up, IS(std::max(s.a[i], s.b[i]))},
    {"smaller", 0, 24, Order::up, IS(std::min(s.a[i], s.b[i]))},
    {"absolute", 0, 16, Order::up, IS(std::fabs(s.a[i]))},
    {"sign", 0, 16, Order::up, IS(s.a[i] > 0 ? 1 : s.a[i] < 0 ? -1 : 0)},
    {"nested_if", 0, 32, Order::up, IS(s.a[i] <= 0 ? s.x0[i] : s.b[i] > 0 ? s.c[i] : -s.c[i])},
    {"three_ways", 1, 24, Order::up, IS(s.a[i] < 0 ? s.b[i] - 1 : s.a[i] > 0 ? s.b[i] + 1 : 0)},
    {"switch_4", 1, 24, Order::up, IS(i % 4 == 0 ? s.a[i] : i % 4 == 1 ? s.b[i] : i % 4 == 2 ? s.a[i] + s.b[i] : s.a[i] - s.b[i])},
    {"jumps", 1, 24, Order::up, IS(s.a[i] < 0 ? s.b[i] : s.b[i] + s.k)},
    {"continued", 1, 32, Order::up, IS(s.a[i] < 0 ? s.x0[i] : s.a[i] * s.b[i])},
    {"equal", 0, 24, Order::up, IS(s.a[i] == s.b[i] ? 1 : 0)},
    {"invariant_if", 1, 24, Order::up, IS(s.k > 5 ? s.a[i] + s.b[i] : s.a[i] - s.b[i])},
    {"halves", 0, 16, Order::up, IS(i < s.n / 2 ? s.a[i] : s.b[i])},
    {"peeled", 0, 16, Order::up, IS(i == 0 ? s.k : s.a[i - 1])},
    // reductions and searches
    {"sum", 1, 8, Order::fold, IS(plus(i, done, s.a[i]))},
    {"sum_down", 1, 8, Order::fold, IS(plus(i, done, s.a[s.n - 1 - i]))},
    {"sum_unrolled", 1, 8, Order::fold, IS(plus(i, done, s.a[i]))},
    {"sum_every_third", 1. / 3, 8. / 3, Order::fold, IS(plus(i, done, i % 3 == 0 ? s.a[i] : 0))},
    {"dot", 2, 16, Order::fold, IS(plus(i, done, s.a[i] * s.b[i]))},
    {"norm", 2, 8, Order::fold, IS(plus(i, done, s.a[i] * s.a[i]))},
    {"sum_absolute", 1, 8, Order::fold, IS(plus(i, done, std::fabs(s.a[i])))},
    {"distance", 3, 16, Order::fold, IS(plus(i, done, (s.a[i] - s.b[i]) * (s.a[i] - s.b[i])))},
    {"sum_of_three", 3, 24, Order::fold, IS(plus(i, done, s.a[i] * s.b[i] * s.c[i]))},
    {"two_sums", 2, 16, Order::fold, IS(plus(i, done, s.a[i] + s.k * s.b[i]))},
    {"alternating", 1, 8, Order::fold, IS(plus(i, done, i % 2 == 0 ? s.a[i] : -s.a[i]))},
    {"moment", 2, 8, Order::fold, IS(plus(i, done, number(i) * s.a[i]))},
    {"sum_positive", 1, 8, Order::fold, IS(plus(i, done, s.a[i] > 0 ? s.a[i] : 0))},
    {"count_positive", 1, 8, Order::fold, IS(plus(i, done, s.a[i] > 0 ? 1 : 0))},
    {"product_of_signs", 1, 8, Order::fold, IS(i == 0 ? s.d[0] : done[0] * s.d[i])},
    {"largest", 0, 8, Order::fold, IS(i == 0 ? s.a[0] : std::max(done[0], s.a[i]))},
    {"place_of_smallest", 0, 8, Order::fold, IS(i == 0 || s.a[i] < s.a[static_cast<Index>(done[0])] ? number(i) : done[0])},
    {"first_negative", 0, 8, Order::fold, IS(i > 0 && done[0] < number(s.n) ? done[0] : s.a[i] < 0 ? number(i) : number(s.n))},
    {"last_negative", 0, 8, Order::fold, IS(s.a[i] < 0 ? number(i) : i == 0 ? -1 : done[0])},
    // strides, gather and scatter
    {"stride_2", 0, 8, Order::up, IS(i % 2 == 0 ? s.a[i] : s.x0[i])},
    {"stride_7", 0, 16. / 7, Order::up, IS(i % 7 == 0 ? s.a[i] : s.x0[i])},
    {"interleave", 0, 16, Order::up, IS(i == s.n / 2 * 2 ? s.x0[i] : i % 2 == 0 ? s.a[i / 2] : s.b[i / 2])},
    {"pairs", .5, 12, Order::up, IS(i < s.n / 2 ? s.a[2 * i] + s.a[2 * i + 1] : s.x0[i])},
    {"rotate", 0, 16, Order::up, IS(s.a[(i + 5) % s.n])},
    {"gather", 0, 20, Order::up, IS(s.a[s.q[i]])},
    {"gather_add", 1, 28, Order::up, IS(s.b[i] + s.a[s.p[i]])},
    {"scatter", 0, 20, Order::up, IS(s.a[s.inverse[i]])},
    {"scatter_add", 1, 28, Order::up, IS(s.x0[i] + s.a[s.inverse[i]])},
    {"histogram", 1, 20, Order::up, IS([&] { double sum = s.x0[i]; for (Index j = 4 * i; j < std::min(4 * i + 4, s.n); ++j) sum += s.a[s.inverse[j]]; return sum; }())},
    {"pack", 0, 16, Order::up, IS(s.packed[i])},
    {"unpack", 0, 24, Order::up, IS(s.a[i] > 0 ? s.b[s.rank[i]] : s.x0[i])},
    // two dimensions
    {"transpose", 0, 16, Order::up, IS(s.a[turned(s, i)])},
    {"outer_product", 1, 8, Order::up, IS(s.a[i / s.m] * s.a[i % s.m])},
    {"by_columns", 1, 16, Order::up, IS(s.a[i] + s.k)},
    {"rows_recur", 1, 24, Order::up, IS(i >= s.m ? done[i - s.m] + s.a[i] : s.x0[i])},
    {"wavefront", 1, 24, Order::up, IS(i < s.m || i % s.m == 0 ? s.x0[i] : std::max(done[i - s.m], done[i - 1]) + s.a[i])},
    {"lower_triangle", 0, 8, Order::up, IS(i % s.m <= i / s.m ? s.a[i] : s.x0[i])},
    {"five_points", 5, 16, Order::up, IS(inside(s, i) ? s.a[i - s.m] + s.a[i - 1] + s.a[i + 1] + s.a[i + s.m] - 4 * s.a[i] : s.x0[i])},
    {"row_sums", 1, 8, Order::up, IS(i < s.m ? over_m(s, [&](Index j) { return s.a[i * s.m + j]; }) : s.x0[i])},
    {"matrix_vector", 2, 8, Order::up, IS(i < s.m ? over_m(s, [&](Index j) { return s.a[j * s.m + i] * s.b[j]; }) : s.x0[i])},
};
#undef IS
// clang-format on

inline const Loop& loop(const std::string& kernel) {
  const Loop* found = loops;
  while (kernel != found->name) ++found;
  return *found;
}

}  // namespace loops::inline FL_ROLE
