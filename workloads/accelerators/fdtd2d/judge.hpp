// What a run must leave. Compiled with the harness's own flags.
#pragma once

#include <cfloat>

#include "fdtd2d.hpp"
#include "firstlight/error_summary.hpp"
#include "guards.hpp"
#include "oracle.hpp"

namespace fdtd2d {

inline double epsilon(const State& s) { return s.p.bits == 32 ? FLT_EPSILON : DBL_EPSILON; }
inline double rounded(const State& s, double value) { return s.p.bits == 32 ? static_cast<double>(static_cast<float>(value)) : value; }

// Rounding errors of steps add up like steps of a random walk.
inline double allowed(const State& s) { return epsilon(s) * (8 + 2 * std::sqrt(static_cast<double>(s.p.steps))); }

// compare(local cell, global cell, ez, hx, hy) for every cell of this process.
template <class Compare>
void each_result(State& s, Compare compare) {
  in_precision(s, [&](auto& a) {
    const auto ez = a.ez.view(), hx = a.hx.view(), hy = a.hy.view();
    grid::each_cell(s.block.cells(), [&](const grid::Point<2>& p) {
      const auto [i, j] = p;
      compare(s.block.global(p), Waves{static_cast<double>(ez(i, j)), static_cast<double>(hx(i, j)), static_cast<double>(hy(i, j))});
    });
  });
}

// The largest difference of any number, in units of `scale`.
class Worst {
 public:
  explicit Worst(double scale) : scale_(scale) {}
  void look(const grid::Point<2>& at, const Waves& found, const Waves& wanted) {
    one(at, "ez", found.ez, wanted.ez);
    one(at, "hx", found.hx, wanted.hx);
    one(at, "hy", found.hy, wanted.hy);
  }
  double error() const { return error_; }
  std::string what() const {
    return fl::text("largest error: %s(%lld, %lld) is %.9g, should be %.9g", name_, at_[0], at_[1], found_, wanted_);
  }

 private:
  void one(const grid::Point<2>& at, const char* name, double found, double wanted) {
    const double error = std::fabs(found - wanted) / scale_;
    if (error <= error_) [[likely]]
      return;
    if (std::isnan(error_)) return;
    error_ = error, at_ = at, name_ = name, found_ = found, wanted_ = wanted;
  }
  double scale_, error_ = 0, found_ = 0, wanted_ = 0;
  grid::Point<2> at_{};
  const char* name_ = "no number";
};

inline Reference reference(const State& s, double h, Index margin) {
  return Reference(s.p.problem, s.p.n, s.p.layers, s.p.courant, h, s.p.steps, s.drawn, margin,
                   [&](double value) { return rounded(s, value); });
}

inline Worst against_reference(State& s, double h) {
  Reference r = reference(s, h, 0);
  Worst worst(r.largest);
  each_result(s, [&](const grid::Point<2>& at, const Waves& found) {
    worst.look(at, found, {r.ez(at[0], at[1]), r.hx(at[0], at[1]), r.hy(at[0], at[1])});
  });
  return worst;
}

inline Worst against_exact(State& s, double h) {
  const double e = rounded(s, s.p.courant);
  Worst worst(1);
  std::vector<Mode> now = s.modes;
  std::vector<Times> times;
  for (const Mode& mode : now) times.push_back(after(mode, e, h, s.p.courant, s.p.steps));
  each_result(s, [&](const grid::Point<2>& at, const Waves& found) {
    worst.look(at, found, sum(now, static_cast<std::size_t>(at[0]), static_cast<std::size_t>(at[1]), [&](const Mode& mode) {
                 return times[static_cast<std::size_t>(&mode - now.data())];
               }));
  });
  return worst;
}

inline Worst compared(State& s, double h) { return is_driven(s.p.problem) ? against_reference(s, h) : against_exact(s, h); }

// How much of a wave that reaches the layers is where it would not be in a domain without end, in dB.
inline double reflection(State& s, double h) {
  const Index margin = std::max<Index>(0, (s.p.steps - s.p.n / 2 + s.p.n / 16) / 2 + 1);
  Reference r = reference(s, h, margin);
  double worst = 0;
  each_result(s, [&](const grid::Point<2>& at, const Waves& found) {
    const auto inside = [&](Index line) { return line >= s.p.layers && line <= s.p.n - s.p.layers; };
    if (!inside(at[0]) || !inside(at[1])) return;
    const double error = std::fabs(found.ez - r.ez(at[0] + margin, at[1] + margin));
    if (!(error <= worst)) worst = error;
  });
  fl::maximum(&worst, 1);
  return 20 * std::log10(worst / r.incident);
}
// What may come back, in dB: thin layers hold less.
inline double loudest(const Params& p) { return -6 * static_cast<double>(std::min<Index>(p.layers, 10)); }
// Whether the pulse has reached the layers.
inline bool reflects(const Params& p) {
  return p.problem == Problem::cpml && static_cast<double>(p.steps) * p.courant >= static_cast<double>(p.n) / 2 + 28;
}

inline fl::Check check(State& s, Index last) {
  if (s.download) s.download();
  if (!guards_are_whole(s)) return {false, 1, 0, "the program wrote before the first number of a field or after the last one"};
  const double h = rounded(s, length(s.p, last));
  const Worst worst = compared(s, h);
  if (reflects(s.p) && worst.error() <= allowed(s)) {
    const double found = reflection(s, h);
    if (!(found < loudest(s.p))) return {false, found, loudest(s.p), fl::text("the layers reflect %.1f dB of the incoming waves", found)};
  }
  return fl::Check::of(worst.error(), allowed(s), worst.what());
}

// The energy of what a run left, of one process: E^2 / s_e and H times H half a step before, / s, which no time step of a lossless domain
// changes. Along each dimension E of the next cell is that beyond the end, nothing or the beginning.
template <class At>
double energy(const State& s, double h, At at) {
  const double e = rounded(s, s.p.courant);
  const bool around = s.p.problem == Problem::periodic;
  double sum = 0;
  grid::each_cell(s.block.cells(), [&](const grid::Point<2>& p) {
    const Waves w = at(p);
    const auto next = [&](std::size_t d) {
      grid::Point<2> q = p;
      if (++q[d] == s.p.n) q[d] = 0;
      return q[d] == 0 && !around ? 0 : at(q).ez;
    };
    sum += w.ez * w.ez / e + (w.hx * (w.hx + h * (next(1) - w.ez)) + w.hy * (w.hy - h * (next(0) - w.ez))) / h;
  });
  return sum;
}

// How far the energy of a lossless domain is from what it was at the start, by one process.
inline double drift(State& s, double h) {
  return in_precision(s, [&](auto& a) {
    const auto ez = a.ez.view(), hx = a.hx.view(), hy = a.hy.view();
    const double left = energy(s, h, [&](const grid::Point<2>& p) {
      return Waves{static_cast<double>(ez(p[0], p[1])), static_cast<double>(hx(p[0], p[1])), static_cast<double>(hy(p[0], p[1]))};
    });
    const double half = s.p.courant / 2;
    const double began = energy(s, h, [&](const grid::Point<2>& p) {
      return sum(s.modes, static_cast<std::size_t>(p[0]), static_cast<std::size_t>(p[1]),
                 [&](const Mode& m) { return Times{m.amplitude, half * m.amplitude}; });
    });
    return std::fabs(left / began - 1);
  });
}

// The largest error, by how much a reflection is weaker than what reached the layers, how far energy has drifted.
inline void observe(State& s, fl::Observations& seen) {
  const bool exact = !is_driven(s.p.problem), whole = s.team.ranks == 1;  // a plain run is for the check alone
  if (!s.first_run.known) {
    if (s.download) s.download();
    const double h = rounded(s, s.s);
    if (reflects(s.p)) s.first_run.reflection = reflection(s, h);
    if (exact) s.first_run.error = against_exact(s, h).error();
    if (exact && whole) s.first_run.drift = drift(s, h);
    s.first_run.known = true;
  }
  if (reflects(s.p)) seen.value("absorption", -s.first_run.reflection);
  if (exact) seen.value("error", s.first_run.error);
  if (exact && whole) seen.value("energy_drift", s.first_run.drift);
}

// What a run left, for the report: Ez of a grid that a picture still shows.
inline constexpr Index most_drawn = 256;  // cells along an edge

inline void draw(State& s, fl::Picture& picture) {
  if (s.p.bits != 64 || s.p.n > most_drawn || (s.p.problem != Problem::cavity && s.p.problem != Problem::cpml)) return;
  if (s.download) s.download();
  picture.of("ez", "", s.p.n, s.p.n);
  grid::each_row(s.block.cells(), [&](const grid::Point<2>& p, Index count) {
    const auto [i, j] = s.block.global(p);
    picture.row(i, j, &s.doubles.ez[p], count);
  });
}

}  // namespace fdtd2d
