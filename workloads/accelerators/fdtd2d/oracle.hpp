// What fields must be, by code that shares no line with the variants: the exact solution of the difference equations where there is one,
// else a plain run in 64 bits on a whole grid, without blocks and without halos.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "physics.hpp"

namespace fdtd2d {

// A mode after so many time steps. With coefficients s_e in E and s in H, u(t + 1) = 2 cos(w) u(t) - u(t - 1), sin^2(w / 2) = s_e s lambda;
// u(0) = 1, and u(1) = 1 - 2 s_e s_0 lambda, for H starts half a step ahead by s_0 / 2. H is s_0 / 2 + s (u(1) + ... + u(steps)).
inline Times after(const Mode& mode, double s_e, double s, double s_0, Index steps) {
  const long double square = static_cast<long double>(s_e) * s * mode.lambda;
  const long double half = std::asin(std::sqrt(square)), w = 2 * half, n = static_cast<long double>(steps);
  const long double b = 2 * static_cast<long double>(s_e) * mode.lambda * (static_cast<long double>(s) - s_0) / std::sin(w);
  const long double e = std::cos(n * w) + b * std::sin(n * w);
  const long double cosines = (std::sin((2 * n + 1) * half) / std::sin(half) - 1) / 2;
  const long double sines = (std::cos(half) - std::cos((2 * n + 1) * half)) / (2 * std::sin(half));
  return {mode.amplitude * static_cast<double>(e), mode.amplitude * static_cast<double>(s_0 / 2.L + s * (cosines + b * sines))};
}

// Numbers on n x n cells.
class Plane {
 public:
  Plane() = default;
  explicit Plane(Index n) : n_(static_cast<std::size_t>(n)), cells_(n_ * n_) {}
  double& operator()(Index i, Index j) { return cells_[static_cast<std::size_t>(i) * n_ + static_cast<std::size_t>(j)]; }
  // Nothing beyond the ends.
  double at(Index i, Index j) const {
    const auto size = static_cast<Index>(n_);
    return i < 0 || j < 0 || i >= size || j >= size ? 0 : cells_[static_cast<std::size_t>(i) * n_ + static_cast<std::size_t>(j)];
  }

 private:
  std::size_t n_ = 0;
  std::vector<double> cells_;
};

// A run with a source, in a domain that is wider by `margin` on each side; layers only where there is none.
struct Reference {
  Index n = 0, margin = 0;
  Plane ez, hx, hy;
  double largest = 0;   // of |ez| in the whole run
  double incident = 0;  // of |ez| on the cells next to where layers begin

  template <class Round>
  Reference(Problem problem, Index inner, Index layers, double courant, double s, Index steps, const Drawn& drawn, Index margin,
            Round round)
      : n(inner + 2 * margin), margin(margin), ez(n), hx(n), hy(n) {
    const bool absorb = problem == Problem::cpml && margin == 0;
    Plane ca(n), cb(n), ex, ey, gx, gy;
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j) {
        const Material m = material(problem, courant, drawn, i, j);
        ca(i, j) = round(m.ca), cb(i, j) = round(m.cb);
      }
    if (absorb) ex = ey = gx = gy = Plane(n);
    std::vector<Absorbing> e, h;
    for (Index k = 0; absorb && k < n; ++k)
      for (auto* each : {&e, &h}) {
        const Absorbing a = absorbing(static_cast<double>(k) + (each == &h ? 0.5 : 0), n, layers, courant);
        each->push_back({round(a.b), round(a.c)});
      }
    const auto spread = [](double& psi, const Absorbing& a, double difference) {
      psi = a.b * psi + a.c * difference;
      return psi;
    };
    for (Index t = 0; t < steps; ++t) {
      for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < n; ++j) {
          double di = hy(i, j) - hy.at(i - 1, j), dj = hx(i, j) - hx.at(i, j - 1);
          if (absorb)
            di += spread(ex(i, j), e[static_cast<std::size_t>(i)], di), dj += spread(ey(i, j), e[static_cast<std::size_t>(j)], dj);
          ez(i, j) = ca(i, j) * ez(i, j) + cb(i, j) * (di - dj);
        }
      ez(drawn.source_i + margin, drawn.source_j + margin) += round(pulse(t, courant));
      for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < n; ++j) {
          double di = ez.at(i + 1, j) - ez(i, j), dj = ez.at(i, j + 1) - ez(i, j);
          if (absorb)
            di += spread(gx(i, j), h[static_cast<std::size_t>(i)], di), dj += spread(gy(i, j), h[static_cast<std::size_t>(j)], dj);
          hx(i, j) -= s * dj;
          hy(i, j) += s * di;
          largest = std::max(largest, std::fabs(ez(i, j)));
        }
      const Index first = margin + layers, last = margin + inner - layers;
      for (Index k = first; k <= last; ++k)
        for (const double value : {ez(k, first), ez(k, last), ez(first, k), ez(last, k)}) incident = std::max(incident, std::fabs(value));
    }
  }
};

}  // namespace fdtd2d
