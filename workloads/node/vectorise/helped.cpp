// The same results from source that helps the compiler: no aliases, loops interchanged, cut and distributed, several sums.
// Only loops that such help may change; the others are what `serial` has.
#include "firstlight/simd.hpp"
#include "kernels/kernels.hpp"

namespace {

using fl::Index;
using vectorise::State;

// Sixteen sums side by side, which no compiler needs a permission for; the rest goes one by one.
template <class Term>
[[gnu::always_inline]] inline double sums(Index n, Term term) {
  constexpr int chains = 16;
  double t[chains] = {};
  Index i = 0;
  for (; i + chains <= n; i += chains)
    for (int k = 0; k < chains; ++k) t[k] += term(i + k);
  double total = 0;
  for (const double part : t) total += part;
  for (; i < n; ++i) total += term(i);
  return total;
}

struct Streams {  // of one step: none is the other under another name
  const double* __restrict a;
  const double* __restrict b;
  const double* __restrict c;
  double k;
  Index n, m;
  explicit Streams(const State& s) : a(s.a.data()), b(s.b.data()), c(s.c.data()), k(s.k), n(s.n), m(s.m) {}
};

void reduction_sum(State& s, Index) {
  const Streams v(s);
  s.x[0] = sums(v.n, [&](Index i) { return v.a[i]; });
}
void reduction_sum_down(State& s, Index) { ::reduction_sum(s, 0); }
void reduction_sum_unrolled(State& s, Index) { ::reduction_sum(s, 0); }
void reduction_dot(State& s, Index) {
  const Streams v(s);
  s.x[0] = sums(v.n, [&](Index i) { return v.a[i] * v.b[i]; });
}
void reduction_norm(State& s, Index) {
  const Streams v(s);
  s.x[0] = sums(v.n, [&](Index i) { return v.a[i] * v.a[i]; });
}
void reduction_sum_absolute(State& s, Index) {
  const Streams v(s);
  s.x[0] = sums(v.n, [&](Index i) { return std::fabs(v.a[i]); });
}
void reduction_distance(State& s, Index) {
  const Streams v(s);
  s.x[0] = sums(v.n, [&](Index i) { return (v.a[i] - v.b[i]) * (v.a[i] - v.b[i]); });
}
void reduction_sum_of_three(State& s, Index) {
  const Streams v(s);
  s.x[0] = sums(v.n, [&](Index i) { return v.a[i] * v.b[i] * v.c[i]; });
}
void reduction_sum_positive(State& s, Index) {
  const Streams v(s);
  s.x[0] = sums(v.n, [&](Index i) { return v.a[i] > 0 ? v.a[i] : 0.0; });
}
void gather_sum(State& s, Index) {
  const Streams v(s);
  const int* __restrict q = s.q.data();
  s.x[0] = sums(v.n, [&](Index i) { return v.a[q[i]]; });
}

void dependence_crossing(State& s, Index) {
  const Streams v(s);
  double* x = s.x.data();
  const Index half = v.n / 2;
  FL_INDEPENDENT
  for (Index i = 0; i < half; ++i) x[i] = x[v.n - 1 - i] + v.a[i];
  if (v.n % 2 != 0) x[half] += v.a[half];
  FL_INDEPENDENT
  for (Index i = v.n - half; i < v.n; ++i) x[i] = x[v.n - 1 - i] + v.a[i];
}
void dependence_middle(State& s, Index) {
  const Streams v(s);
  double* __restrict x = s.x.data();
  const Index half = v.n / 2;
  const double before = x[half], after = before + v.a[half];
  for (Index i = 0; i <= half; ++i) x[i] = before + v.a[i];
  for (Index i = half + 1; i < v.n; ++i) x[i] = after + v.a[i];
}
void distribute_reversed(State& s, Index) {
  const Streams v(s);
  double* __restrict x = s.x.data();
  double* __restrict y = s.y.data();
  for (Index i = 1; i < v.n; ++i) y[i] = v.a[i] + v.b[i];
  for (Index i = 1; i < v.n; ++i) x[i] = y[i - 1] * v.c[i];
}
void expand_carried(State& s, Index) {
  const Streams v(s);
  double* __restrict x = s.x.data();
  x[0] = v.a[0] + v.a[v.n - 1];
  for (Index i = 1; i < v.n; ++i) x[i] = v.a[i] + v.a[i - 1];
}
void peel_peeled(State& s, Index) {
  const Streams v(s);
  double* __restrict x = s.x.data();
  x[0] = v.k;
  for (Index i = 1; i < v.n; ++i) x[i] = v.a[i - 1];
}
void induction_real(State& s, Index) {
  const Streams v(s);
  double* __restrict x = s.x.data();
  for (Index i = 0; i < v.n; ++i) x[i] = v.k * static_cast<double>(i + 1);
}
void control_halves(State& s, Index) {
  const Streams v(s);
  double* __restrict x = s.x.data();
  for (Index i = 0; i < v.n / 2; ++i) x[i] = v.a[i];
  for (Index i = v.n / 2; i < v.n; ++i) x[i] = v.b[i];
}
void gather_rotate(State& s, Index) {
  const Streams v(s);
  double* __restrict x = s.x.data();
  for (Index i = 0; i < v.n - 5; ++i) x[i] = v.a[i + 5];
  for (Index i = v.n - 5; i < v.n; ++i) x[i] = v.a[i + 5 - v.n];
}
void nest_by_columns(State& s, Index) {
  const Streams v(s);
  double* __restrict x = s.x.data();
  for (Index i = 0; i < v.n; ++i) x[i] = v.a[i] + v.k;
}
void nest_row_sums(State& s, Index) {
  const Streams v(s);
  for (Index i = 0; i < v.m; ++i) s.x[i] = sums(v.m, [&](Index j) { return v.a[i * v.m + j]; });
}

constexpr fl::Kernel table[] = {
    FL_KERNEL(vectorise, reduction_sum),       FL_KERNEL(vectorise, reduction_sum_down),     FL_KERNEL(vectorise, reduction_sum_unrolled),
    FL_KERNEL(vectorise, reduction_dot),       FL_KERNEL(vectorise, reduction_norm),         FL_KERNEL(vectorise, reduction_sum_absolute),
    FL_KERNEL(vectorise, reduction_distance),  FL_KERNEL(vectorise, reduction_sum_of_three), FL_KERNEL(vectorise, reduction_sum_positive),
    FL_KERNEL(vectorise, gather_sum),          FL_KERNEL(vectorise, dependence_crossing),    FL_KERNEL(vectorise, dependence_middle),
    FL_KERNEL(vectorise, distribute_reversed), FL_KERNEL(vectorise, expand_carried),         FL_KERNEL(vectorise, peel_peeled),
    FL_KERNEL(vectorise, induction_real),      FL_KERNEL(vectorise, control_halves),         FL_KERNEL(vectorise, gather_rotate),
    FL_KERNEL(vectorise, nest_by_columns),     FL_KERNEL(vectorise, nest_row_sums),
};

}  // namespace

FL_KERNELS(vectorise, table)
