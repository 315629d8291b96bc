// OpenMP on a device: the loops of `serial` with a directive each. The arrays are there from set-up on.
#pragma once

#include "stream.hpp"

#include "firstlight/device.hpp"

namespace stream::target {

// The last element of x follows the iteration, so it is handed over with every step.
template <Op op>
void store(State& s) {
  const fl::Index n = s.n;
  const double* x = s.x.data();
  const double* y = reads_two(op) ? s.y.data() : x;
  double* out = s.out.data();
  const double last = s.x[n - 1];
#pragma omp target teams distribute parallel for map(to : x[0 : n], y[0 : n]) map(from : out[0 : n])
  for (fl::Index i = 0; i < n; ++i) {
    if (i == 0) fl::device::note();
    out[i] = combine(op, i == n - 1 ? last : x[i], y[i]);
  }
}

inline void load(State& s) {
  const fl::Index n = s.n;
  const double* x = s.x.data();
  const double last = s.x[n - 1];
  double sum = 0;
#pragma omp target teams distribute parallel for map(to : x[0 : n]) map(tofrom : sum) reduction(+ : sum)
  for (fl::Index i = 0; i < n; ++i) {
    if (i == 0) fl::device::note();
    sum += i == n - 1 ? last : x[i];
  }
  s.result = sum;
}

inline void step(State& s) {
  if (s.op == Op::load) return load(s);
  with_constant(s.op, [&]<Op op>() { store<op>(s); });
}

// The compiler does not count a name in a directive as a use of it.
inline void fetch(State& s) {
  const fl::Index n = s.out.size();
  [[maybe_unused]] double* out = s.out.data();
#pragma omp target update from(out[0 : n])
}

inline void poisoned(State& s) {
  const fl::Index n = s.out.size();
  [[maybe_unused]] double* out = s.out.data();
#pragma omp target update to(out[0 : n])
}

inline void changed(State& s, fl::Index i) {
  [[maybe_unused]] const double *x = s.x.data(), *y = s.y.data();
#pragma omp target update to(x[i : 1])
  if (reads_two(s.op)) {
#pragma omp target update to(y[i : 1])
  }
}

inline void upload(State& s) {
  s.changed = changed;
  const fl::Index n = s.n, outs = s.out.size();
  [[maybe_unused]] const double *x = s.x.data(), *y = s.y.data();
  [[maybe_unused]] double* out = s.out.data();
#pragma omp target enter data map(to : x[0 : n])
  if (reads_two(s.op)) {
#pragma omp target enter data map(to : y[0 : n])
  }
  if (outs > 0) {
#pragma omp target enter data map(to : out[0 : outs])
    s.fetch = fetch;
    s.poisoned = poisoned;
  }
}

inline void release(State& s) {
  const fl::Index n = s.n, outs = s.out.size();
  [[maybe_unused]] const double *x = s.x.data(), *y = s.y.data();
  [[maybe_unused]] double* out = s.out.data();
#pragma omp target exit data map(delete : x[0 : n])
  if (reads_two(s.op)) {
#pragma omp target exit data map(delete : y[0 : n])
  }
  if (outs > 0) {
#pragma omp target exit data map(delete : out[0 : outs])
  }
}

struct Device {
  void open(State& s) { upload(s); }
  void step(State& s, fl::Index) { target::step(s); }
  void close(State& s) { release(s); }
};

}  // namespace stream::target
