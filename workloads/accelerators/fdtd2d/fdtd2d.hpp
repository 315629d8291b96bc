// fdtd2d: Maxwell's equations in two dimensions on Yee's grid, polarised with E along z (TMz); R4 ran it by directives and in CUDA.
//
//   ez = ca ez + cb ((hy(i, j) - hy(i - 1, j)) - (hx(i, j) - hx(i, j - 1)))        ca, cb: the material of each cell
//   hx = hx - s (ez(i, j + 1) - ez(i, j)),   hy = hy + s (ez(i + 1, j) - ez(i, j))
//
// hx is offset from ez by half a cell in j, hy in i, and both half a time step later. n x n cells; walls conduct at nodes 0 and n. A step of
// the harness is a whole run of `steps` time steps.
#pragma once

#include <functional>
#include <numbers>

#include "firstlight/grid/field.hpp"
#include "problem.hpp"

namespace fdtd2d {

struct Params {
  Index n = 256, steps = 1000, bits = 64;
  Problem problem = Problem::cavity;
  double courant = 0.7;
  Index layers = 10;
  Index pi = 0, pj = 0;
  void declare(fl::Fields& fields) {
    fields.integer("n", n, "cells", 8, 1 << 16, "cells along an edge");
    fields.integer("steps", steps, "time steps", 1, 1 << 20, "time steps of a run");
    fields.integer("bits", bits, "bit", 32, 64, "width of the numbers: 32 or 64");
    fields.choice("problem", problem, problems,
                  "closed cavity; periodic; a point source in absorbing layers; a source among conducting walls and materials");
    fields.real("courant", courant, "cells", 0.01, std::numbers::sqrt2 / 2,
                "distance of light per time step, in cells; stable up to sqrt(1/2)");
    fields.integer("layers", layers, "cells", 4, 64, "thickness of the absorbing layers");
    fields.integer("pi", pi, "processes", 0, 4096, "processes along i; 0: automatic");
    fields.integer("pj", pj, "processes", 0, 4096, "processes along j; 0: automatic");
  }
  grid::Domain<2> domain() const {
    const bool around = problem == Problem::periodic;
    return {.extents = {n, n}, .periodic = {around, around}, .processes = {pi, pj}, .halo = {1, 1}};
  }
};

// What a variant does otherwise than most.
struct Traits {
  // Words of memory traffic per cell and time step: 6 in the sweep over E (ez twice, ca, cb, hx, hy), 5 in that over H. If one sweep
  // updates both in place, only what is read counts, all five arrays once; writes go back in parallel (README.md).
  double words = 11;
};

// The numbers of one precision.
template <class T>
struct Numbers {
  grid::Field<T, 2> ez, hx, hy, ca, cb;
  grid::Field<T, 2> psi_ex, psi_ey, psi_hx, psi_hy;  // of absorbing layers: what a derivative along i or j has left behind
  fl::Array<T> be, ce, bh, ch;                       // their coefficients by global line
  fl::Array<T> pulse;                                // what the source adds, by time step

  std::array<grid::Field<T, 2>*, 7> written() { return {&ez, &hx, &hy, &psi_ex, &psi_ey, &psi_hx, &psi_hy}; }
};

// What the first run of a case reports; computing it lasts as long as a run.
struct FirstRun {
  bool known = false;
  double reflection = 0;  // in dB
  double error = 0;       // of the largest amplitude
  double drift = 0;       // of the energy, relative
};

struct State {
  Params p;
  fl::Team team;
  grid::Block<2> block;
  Numbers<float> singles;
  Numbers<double> doubles;
  double s = 0;             // the coefficient of H; it changes with the step
  Drawn drawn;              // changes between batches
  std::vector<Mode> modes;  // whose sum is the field at the start
  FirstRun first_run;
  std::function<void()> upload, download;  // of all fields, where a variant keeps them on a device
};

// body(numbers of the precision that this state has)
template <class Body>
[[gnu::always_inline]] inline auto in_precision(State& s, Body body) {
  return s.p.bits == 32 ? body(s.singles) : body(s.doubles);
}

inline constexpr fl::Phases phases{"halo", "electric", "magnetic", "fused"};
inline constexpr fl::About about{
    .title = "Maxwell's equations with finite differences in time",
    .cost =
        "12 flop per cell and time step. Separate sweeps over E and H move 11 numbers (6 and 5). One sweep moves 8 if it writes a "
        "second set of fields; in place only its 5 reads count.",
    .verified =
        "Every cell of all three fields. Cavity and periodic: compared with the exact solution of the difference equations. Walls and"
        " layers: with a plain run in 64 bit; layers also with a domain so large that no wave returns.",
    .tolerance = "eps (8 + 2 sqrt(steps)) of the largest amplitude; reflection below -60 dB (-6 dB per cell for fewer than 10 layers)",
    .phases = phases,
};

inline constexpr fl::Metric metrics[] = {
    {"speed", "Gflop/s", "flops", "rate", 1e-9, "higher"},
    {"update_rate", "Gcell/s", "elements", "rate", 1e-9, "higher"},
    {"halo_time", "us", "operations", "time", 1e6, "lower", phases("halo")},  // a time step
    {"error", "1", "error", "value", 1, "lower"},                             // of the largest amplitude
    {"absorption", "dB", "absorption", "value", 1, "higher"},
    {"energy_drift", "1", "energy_drift", "value", 1, "lower"},
};

inline double length(const Params& p, Index iteration) { return p.courant * (1 - (fl::step_factor(iteration) - 1) / 64); }
inline void mutate_inputs(State& s, Index iteration) { s.s = length(s.p, iteration); }

inline fl::Cost cost(const Params& p, const fl::Team& team, const Traits& traits) {
  const auto steps = static_cast<double>(p.steps), cells = static_cast<double>(p.n) * static_cast<double>(p.n);
  const double word = static_cast<double>(p.bits) / 8, updates = cells * steps;
  return {.flops = 12 * updates,
          .bytes = traits.words * word * updates,
          .operations = steps,
          .elements = updates,
          .working_set = 5 * word * cells / team.ranks,
          .phases = {{phases("halo"), &fl::Cost::operations, steps}}};
}

}  // namespace fdtd2d

#ifdef FL_JUDGE
#include "judge.hpp"
#include "setup.hpp"
#endif
