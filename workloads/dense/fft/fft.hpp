// fft: the discrete Fourier transform of n complex numbers, X_k = sum_j x_j exp(-2 pi i j k / n), over all processes (HPC Challenge's G-FFT; R4).
//
// n = n1 n2. A process has whole rows: of x as a matrix of n1 rows, of X as one of n2 rows. task=return goes there and back.
#pragma once

#include <string>
#include <vector>

#include "../exchange.hpp"
#include "../known.hpp"
#include "firstlight/input_mutator.hpp"
#include "firstlight/split.hpp"

namespace fft {

using fl::Complex, fl::Index, spectral::phases;

enum class Task { forward, back_again };

struct Params {
  Index n = 65536;
  Task task = Task::forward;
  spectral::Way exchange = spectral::Way::alltoall;
  void declare(fl::Fields& fields) {
    fields.integer("n", n, "points", 1, (Index{1} << 31) - 1,
                   "complex numbers, divided into n1 rows of n2: n1 is the largest factor up to sqrt(n)");
    fields.choice("task", task, "forward|return", "the transform alone, or followed by its inverse");
    fields.choice("exchange", exchange, spectral::ways, spectral::ways_help);
  }
};

struct State {
  fl::Team team;
  Params p;
  Index n1 = 1, n2 = 1;
  fl::Part in_rows, out_rows;  // of this process: of n2 points, and of the result's n1 or, where it goes back, n2
  fl::Array<Complex> in, out;
  fl::InputMutator changing;  // points of the whole input
};

inline constexpr fl::About about{
    .title = "Fourier transform",
    .cost = "5 n log2 n flops for a transform, twice that with its inverse; 32 bytes per point, read and written once",
    .verified =
        "Up to 2048 points: each point, compared with a sum in long double. Beyond: the first, the last and one middle point of each "
        "process, the transform at two random frequencies between points, and the sum of squares. With the inverse: each point, "
        "compared with the input.",
    .tolerance = "16 eps log2(n) times the magnitude: 1 for an input, sqrt(n) for a point, n between points (HPC Challenge's rule)",
    .phases = phases,
};

inline constexpr fl::Metric metrics[] = {
    {"rate", "Gflop/s", "flops", "rate", 1e-9, "higher"},
    {"bandwidth", "GB/s", "bytes", "rate", 1e-9, "higher"},
};

inline Index largest_factor(Index n) {
  Index found = 1;
  for (Index f = 1; f * f <= n; ++f)
    if (n % f == 0) found = f;
  return found;
}

inline std::string refuse(const Params& p, const fl::Team& team) {
  const Index n1 = largest_factor(p.n);
  if (team.ranks > n1) return fl::text("%lld points in %lld rows: needs at most one process per row, %d given", p.n, n1, team.ranks);
  return "";
}

inline Index first_in(const State& s) { return s.in_rows.begin * s.n2; }
inline Index out_width(const State& s) { return s.p.task == Task::forward ? s.n1 : s.n2; }
inline Index first_out(const State& s) { return s.out_rows.begin * out_width(s); }

inline void init(State& s, const Params& p, const fl::Team& team) {
  s.p = p, s.team = team;
  s.n1 = largest_factor(p.n), s.n2 = p.n / s.n1;
  s.in_rows = fl::part(s.n1, team.ranks, team.rank);
  s.out_rows = p.task == Task::forward ? fl::part(s.n2, team.ranks, team.rank) : s.in_rows;
  s.in = fl::Array<Complex>(s.in_rows.size() * s.n2);
  s.out = fl::Array<Complex>(s.out_rows.size() * out_width(s));
  s.changing = fl::InputMutator(p.n, fl::InputMutator::most, true);
  fl::first_touch(&s);
  for (Index j = 0; j < s.in.size(); ++j) s.in[j] = spectral::point(first_in(s) + j, -1);
}

inline fl::Cost cost(const Params& p, const fl::Team& team) {
  const double n = static_cast<double>(p.n), times = p.task == Task::forward ? 1 : 2;
  return {.flops = times * 5 * n * std::log2(n), .bytes = times * 32 * n, .working_set = 32 * n / team.ranks};
}

inline void mutate_inputs(State& s, Index iteration) {
  s.changing.mutate_inputs(iteration, [&](Index j) {
    if (j >= first_in(s) && j < first_in(s) + s.in.size()) s.in[j - first_in(s)] = spectral::point(j, iteration);
  });
}

inline Index mutate_between_batches(State& s, Index next) {
  return s.changing.mutate_between_batches(next, [&](Index iteration) { mutate_inputs(s, iteration); });
}

inline void poison(State& s) { fl::poison(reinterpret_cast<double*>(s.out.data()), 2 * s.out.size()); }

}  // namespace fft

#include "judge.hpp"
