// relaxed: a sine on a line relaxes by explicit time steps; a step of the harness is such a run from the start. For tests of firstlight
// itself.
#pragma once

#include <cfloat>
#include <chrono>
#include <cmath>

#include "firstlight/workload.hpp"

namespace relaxed {

struct Params {
  fl::Index n = 64;
  fl::Index runs = 3;
  double r = 0.25, pause = 0;
  void declare(fl::Fields& fields) {
    fields.integer("n", n, "cells", 2, 1 << 20, "cells of the line");
    fields.integer("runs", runs, "time steps", 1, 1000, "time steps of a run");
    fields.real("r", r, "h^2", 1e-12, 0.5, "length of a time step");
    fields.real("pause", pause, "s", 0, 1, "how long a reset takes");
  }
};

struct State {
  fl::Array<double> u, next, start;
  double r = 0, scale = 1, pause = 0;
  fl::Index runs = 0;
  int resets = 0;
  fl::Team team;
};

inline constexpr fl::Phases phases{"update", "halo", "norm"};

inline constexpr fl::About about{
    .title = "Relaxation of a sine",
    .cost = "5 n flops a time step, n to scale",
    .verified = "every point against the mode's exact decay",
    .tolerance = "16 eps a time step",
    .phases = phases,
};

inline constexpr fl::Metric metrics[] = {
    {"time", "us", "operations", "time", 1e6, "lower"},
    {"update_rate", "Gflop/s", "flops", "rate", 1e-9, "higher", phases("update")},
    {"halo_time", "us", "operations", "time", 1e6, "lower", phases("halo")},
    {"halo", "us", "phase_halo", "value", 1e6, "lower"},
};

inline double mode(fl::Index i, fl::Index n) { return std::sin(M_PI * static_cast<double>(i) / static_cast<double>(n)); }

inline void init(State& s, const Params& p, const fl::Team& team) {
  s.team = team, s.r = p.r, s.runs = p.runs, s.pause = p.pause;
  for (fl::Array<double>* field : {&s.u, &s.next, &s.start}) *field = fl::Array<double>(p.n + 1);
  for (fl::Index i = 0; i <= p.n; ++i) s.u[i] = s.next[i] = s.start[i] = mode(i, p.n);
}

inline fl::Cost cost(const Params& p, const fl::Team& team) {
  const double n = static_cast<double>(p.n) * team.ranks, updates = 5 * n * static_cast<double>(p.runs);
  return {.flops = updates + n,
          .operations = 1,
          .working_set = 24 * static_cast<double>(p.n),
          .phases = {{phases("update"), &fl::Cost::flops, updates},
                     {phases("update"), &fl::Cost::operations, 1},
                     {phases("halo"), &fl::Cost::operations, 1}}};
}

inline void pass(double seconds) {
  const auto start = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - start < std::chrono::duration<double>(seconds)) continue;
}

inline void reset(State& s) {
  pass(s.pause);
  for (fl::Index i = 0; i < s.u.size(); ++i) s.u[i] = s.start[i];
  s.resets += 1;
}

inline double scale_of(fl::Index iteration) { return 1 + static_cast<double>(iteration & 7) / 8; }
inline void mutate_inputs(State& s, fl::Index iteration) { s.scale = scale_of(iteration); }

inline void poison(State& s) { fl::poison(s.u.data(), s.u.size()); }

inline void begin(State& s) {
  for (double& u : s.u) u *= s.scale;
}

inline void update(State& s) {
  for (fl::Index i = 1; i + 1 < s.u.size(); ++i) s.next[i] = s.u[i] + s.r * (s.u[i - 1] - 2 * s.u[i] + s.u[i + 1]);
  for (fl::Index i = 1; i + 1 < s.u.size(); ++i) s.u[i] = s.next[i];
}

inline fl::Check check(State& s, fl::Index last) {
  const fl::Index n = s.u.size() - 1;
  const double half = std::sin(M_PI / static_cast<double>(2 * n));
  const double left = scale_of(last) * std::pow(1 - 4 * s.r * half * half, static_cast<double>(s.runs));
  double worst = 0;
  for (fl::Index i = 0; i <= n; ++i) {
    const double error = std::fabs(s.u[i] - left * mode(i, n));
    if (!(error <= worst)) worst = error;
  }
  return fl::Check::of(worst, 16 * DBL_EPSILON * static_cast<double>(s.runs),
                       fl::text("largest error %.3g after %lld time steps", worst, s.runs));
}

// Reports the resets minus the steps: 0 if one reset preceded each step.
inline void observe(State& s, fl::Observations& seen) {
  seen.value("resets", s.resets - static_cast<double>(seen.steps));
  s.resets = 0;
  seen.value("update", seen.seconds(phases("update")));
}

}  // namespace relaxed
