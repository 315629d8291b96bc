// Transports of wind-driven gyres of one layer in a square, known in closed form: what is steady and linear of
//
//   beta psi_x = -(tau / rho)_y - r lap psi + A lap lap psi,    tau = -wind cos(pi y / L),    psi(x, y) = phi(x) sin(pi y / L)
#pragma once

#include <complex>

#include "sea.hpp"

namespace ocean {

// H. Stommel, Trans. AGU 29 (1948) 202: the bottom drags, A = 0. At x from the western wall, m, in m^3/s.
class Stommel {
 public:
  template <class P>
  Stommel(const P& p, double wind) : l_(p.length), depth_(wind * l_ / (M_PI * density * p.drag)) {
    const double r = p.drag, root = std::hypot(p.beta(), 2 * r * M_PI / l_);
    decay_ = (-p.beta() - root) / (2 * r), rise_ = (-p.beta() + root) / (2 * r);
    a_ = (1 - std::exp(decay_ * l_)) / (std::exp(rise_ * l_) - std::exp(decay_ * l_));
  }
  double operator()(double x) const { return depth_ * (1 - a_ * std::exp(rise_ * x) - (1 - a_) * std::exp(decay_ * x)); }

 private:
  double l_, depth_, decay_ = 0, rise_ = 0, a_ = 0;
};

// W. Munk, J. Meteorol. 7 (1950) 79, between walls along which the flow slips (phi = phi'' = 0): r = 0. With (s^2 - k^2)^2 = beta / A s for the
// four exponents s and k = pi / L.
class Munk {
 public:
  template <class P>
  Munk(const P& p, double wind) : l_(p.length) {
    const double k = M_PI / l_, width = std::cbrt(p.viscosity / p.beta());
    constant_ = wind * k / density / (p.viscosity * std::pow(k, 4));
    for (std::size_t n = 0; n < 4; ++n) s_[n] = std::pow(Complex(0.4, 0.9), static_cast<double>(n)) / width;
    for (int round = 0; round < 200; ++round)  // K. Weierstrass's iteration, all roots at once
      for (std::size_t n = 0; n < 4; ++n) {
        Complex others = 1;
        for (std::size_t m = 0; m < 4; ++m) others *= m == n ? Complex(1) : s_[n] - s_[m];
        const Complex square = s_[n] * s_[n] - k * k;
        s_[n] -= (square * square - p.beta() / p.viscosity * s_[n]) / others;
      }
    solve();
  }
  double operator()(double x) const {
    Complex sum = constant_;
    for (std::size_t n = 0; n < 4; ++n) sum += c_[n] * part(n, x);
    return sum.real();
  }

 private:
  using Complex = std::complex<double>;

  // 1 at the wall from which it decays.
  Complex part(std::size_t n, double x) const { return std::exp(s_[n] * (s_[n].real() > 0 ? x - l_ : x)); }
  // Amplitudes for which phi and phi'' are zero at both walls.
  void solve() {
    std::array<std::array<Complex, 5>, 4> rows{};
    for (std::size_t w = 0; w < 2; ++w) {
      for (std::size_t n = 0; n < 4; ++n) {
        rows[w][n] = part(n, w == 0 ? 0 : l_);
        rows[w + 2][n] = rows[w][n] * s_[n] * s_[n];
      }
      rows[w][4] = -constant_;
    }
    for (std::size_t a = 0; a < 4; ++a) {
      std::size_t best = a;
      for (std::size_t r = a; r < 4; ++r)
        if (std::abs(rows[r][a]) > std::abs(rows[best][a])) best = r;
      std::swap(rows[a], rows[best]);
      for (std::size_t r = 0; r < 4; ++r)
        for (std::size_t k = 5; r != a && k-- > a;) rows[r][k] -= rows[r][a] / rows[a][a] * rows[a][k];
    }
    for (std::size_t a = 0; a < 4; ++a) c_[a] = rows[a][4] / rows[a][a];
  }

  double l_, constant_ = 0;
  std::array<Complex, 4> s_{}, c_{};
};

// What a gyre comes to, on corners.
struct Gyre {
  double error = 0;         // of the transport, of its largest
  double most = 0, at = 0;  // the largest transport along the middle line for a stress of 0.1 N/m^2, m^3/s, and where, m; by parabolas
};
template <class State>
Gyre gyre(State& s) {
  const auto& p = s.p;
  std::vector<double> flux(static_cast<std::size_t>(p.nx * p.ny), 0);  // through western faces
  grid::each_cell(s.block.cells(), [&](const grid::Point<3>& c) {
    const grid::Point<3> g = s.block.global(c), west{0, c[1], c[2] - 1};
    if (g[2] > 0) flux[static_cast<std::size_t>(g[1] * p.nx + g[2])] = s.now.u[c] * (s.now.h[west] + s.now.h[c]) / 2;
  });
  fl::add_up(flux.data(), static_cast<int>(flux.size()));
  double most = 0, worst = 0;
  std::vector<double> middle(static_cast<std::size_t>(p.nx + 1), 0);
  const auto compare = [&](const auto& known) {
    for (Index i = 1; i < p.nx; ++i) {
      const double across = known(static_cast<double>(i) * p.dx());
      double transport = 0;
      for (Index j = 0; j < p.ny; ++j) {
        const double exact = across * std::sin(M_PI * static_cast<double>(j) / static_cast<double>(p.ny));
        most = std::max(most, std::fabs(exact));
        worst = std::max(worst, std::fabs(transport - exact));
        if (2 * j == p.ny) middle[static_cast<std::size_t>(i)] = transport;
        transport -= flux[static_cast<std::size_t>(j * p.nx + i)] * p.dy();
      }
    }
  };
  if (p.stommel())
    compare(Stommel(p, s.wind));
  else
    compare(Munk(p, s.wind));
  Gyre found{.error = worst / most};
  const auto top = static_cast<std::size_t>(std::max_element(middle.begin() + 1, middle.end() - 1) - middle.begin());
  const double left = middle[top - 1], here = middle[top], right = middle[top + 1], bend = left - 2 * here + right;
  const double step = bend == 0 ? 0 : (left - right) / (2 * bend);
  found.most = (here + (right - left) * step / 4) * 0.1 / s.wind;
  found.at = (static_cast<double>(top) + step) * p.dx();
  return found;
}

}  // namespace ocean
