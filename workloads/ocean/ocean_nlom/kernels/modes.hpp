// Vertical modes: layers at rest, thicknesses H, whose pressures are M = G h, G_kj = sum_{i <= min(k, j)} g_i. What couples the layers of
// a linear wave is G H; with P^ = Q^T H^(1/2) P its modes stand alone, each a fluid of one layer whose waves travel at c_m.
#pragma once

#include <algorithm>

#include "ocean_nlom.hpp"

namespace ocean_nlom {

struct Modes {
  using Matrix = std::array<std::array<double, most_layers>, most_layers>;

  Matrix to{}, from{};                        // [mode][layer], [layer][mode]
  std::array<double, most_layers> squared{};  // of the speeds, the fastest first; m^2/s^2

  // `weighted`: as above; else, as it is in a broken variant, by Q alone.
  explicit Modes(const Params& p, bool weighted = true) {
    const auto n = static_cast<std::size_t>(p.layers);
    Matrix s{}, q{};
    for (std::size_t k = 0; k < n; ++k) {
      q[k][k] = 1;
      for (std::size_t j = 0; j < n; ++j) {
        double g = 0;
        for (std::size_t i = 0; i <= std::min(k, j); ++i) g += weight[i];
        s[k][j] = root(p, k) * g * root(p, j);
      }
    }
    for (int sweep = 0; sweep < 30; ++sweep)
      for (std::size_t a = 0; a < n; ++a)
        for (std::size_t b = a + 1; b < n; ++b) rotate(s, q, n, a, b);
    std::array<std::size_t, most_layers> order{};
    for (std::size_t m = 0; m < n; ++m) order[m] = m;
    std::sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(n),
              [&](std::size_t a, std::size_t b) { return s[a][a] > s[b][b]; });
    for (std::size_t m = 0; m < n; ++m) {
      squared[m] = s[order[m]][order[m]];
      for (std::size_t k = 0; k < n; ++k) {
        const double weight = weighted ? root(p, k) : 1;
        to[m][k] = q[k][order[m]] * weight, from[k][m] = q[k][order[m]] / weight;
      }
    }
  }

 private:
  static double root(const Params& p, std::size_t k) { return std::sqrt(p.rest(static_cast<Index>(k))); }
  // C. Jacobi's rotation that makes s_ab zero; q collects them.
  static void rotate(Matrix& s, Matrix& q, std::size_t n, std::size_t a, std::size_t b) {
    if (s[a][b] == 0) return;
    const double theta = (s[b][b] - s[a][a]) / (2 * s[a][b]);
    const double t = (theta < 0 ? -1 : 1) / (std::fabs(theta) + std::hypot(theta, 1)), c = 1 / std::hypot(t, 1), d = t * c;
    for (std::size_t k = 0; k < n; ++k) {
      const double ka = s[k][a], kb = s[k][b];
      s[k][a] = c * ka - d * kb, s[k][b] = d * ka + c * kb;
    }
    for (std::size_t k = 0; k < n; ++k) {
      const double ak = s[a][k], bk = s[b][k], qa = q[k][a], qb = q[k][b];
      s[a][k] = c * ak - d * bk, s[b][k] = d * ak + c * bk;
      q[k][a] = c * qa - d * qb, q[k][b] = d * qa + c * qb;
    }
    s[a][b] = s[b][a] = 0;
  }
};

// A weighted sum of so many lines, all of them at once.
using Lines = std::array<const double*, most_layers>;
template <std::size_t n>
void weigh(const std::array<double, most_layers>& weights, const Lines& from, double* to, Index count) {
  for (Index i = 0; i < count; ++i) {
    double sum = weights[0] * from[0][i];
    for (std::size_t b = 1; b < n; ++b) sum += weights[b] * from[b][i];
    to[i] = sum;
  }
}
// Lines out(a), some or all of so many, become weighted sums of all lines in(b), none of which is one of them.
template <class In, class Out>
void mix_line(const Modes::Matrix& weights, Index layers, const fl::Part& some, Index count, const In& in, const Out& out) {
  static constexpr std::array sums{weigh<1>, weigh<2>, weigh<3>, weigh<4>, weigh<5>};
  static_assert(sums.size() == most_layers);
  Lines from{};
  for (Index b = 0; b < layers; ++b) from[static_cast<std::size_t>(b)] = in(b);
  for (Index a = some.begin; a < some.end; ++a)
    sums[static_cast<std::size_t>(layers - 1)](weights[static_cast<std::size_t>(a)], from, out(a), count);
}
// The same of all lines j of in(b, j).
template <class Team, class In, class Out>
void mix(const Modes::Matrix& weights, const grid::Point<3>& size, const Team& team, const In& in, const Out& out) {
  team([&](Index share, Index shares) {
    const fl::Part mine = fl::part(size[1], shares, share);
    for (Index j = mine.begin; j < mine.end; ++j)
      mix_line(weights, size[0], {0, size[0]}, size[2], [&](Index b) { return in(b, j); }, [&](Index a) { return out(a, j); });
  });
}
// Convert own lines of a field from layers into modes, which are stored behind each other, and back.
template <class Team>
void to_modes(const Modes& modes, grid::Field<double, 3>& field, double* tile, const Team& team) {
  mix(
      modes.to, field.size(), team, [&](Index k, Index j) { return &field.view()(k, j, 0); },
      [&, size = field.size()](Index m, Index j) { return tile + (m * size[1] + j) * size[2]; });
}
template <class Team>
void from_modes(const Modes& modes, const double* tile, grid::Field<double, 3>& field, const Team& team) {
  mix(
      modes.from, field.size(), team, [&, size = field.size()](Index m, Index j) { return tile + (m * size[1] + j) * size[2]; },
      [&](Index k, Index j) { return &field.view()(k, j, 0); });
}

}  // namespace ocean_nlom
