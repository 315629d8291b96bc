// The judge's way: what the differences of a layered ocean come to at a cell, by functions that are called, not by arrays that are filled. On a
// box of the domain with something around it.
#pragma once

#include "shores.hpp"

namespace ocean {

template <class State>
class Cells {
 public:
  // Stores the cells of this box of the whole domain, in global lines and columns, at rest, with `margin` cells around it.
  Cells(const State& s, const grid::Box<2>& box, Index margin) : s_(s), p_(s.p) {
    for (std::size_t d = 0; d < 2; ++d) {
      low_[d] = box.lower[d] - margin, high_[d] = box.upper[d] + margin;
      if (p_.domain().periodic[d + 1]) continue;
      low_[d] = std::max<Index>(low_[d], -2), high_[d] = std::min(high_[d], p_.domain().extents[d + 1] + 2);
    }
    rows_ = high_[0] - low_[0], columns_ = high_[1] - low_[1];
    land_.resize(static_cast<std::size_t>(rows_ * columns_));
    for (Index j = low_[0]; j < high_[0]; ++j)
      for (Index i = low_[1]; i < high_[1]; ++i) land_[at(0, j, i)] = is_wet(p_, j, i) ? 0 : 1;
    for (auto& f : y_) f.assign(static_cast<std::size_t>(rows_ * columns_ * p_.layers), 0);
  }
  // As a run begins.
  void begin() {
    each([&](Index k, Index j, Index i) {
      const Index gj = around(j, p_.ny, 1), gi = around(i, p_.nx, 2);
      if (wet(j, i) && wet(j, i - 1)) y_[0][at(k, j, i)] = start_u(s_, k, gj, gi);
      if (wet(j, i) && wet(j - 1, i)) y_[1][at(k, j, i)] = start_v(s_, k, gj, gi);
      if (wet(j, i)) y_[2][at(k, j, i)] = start_h(s_, k, gj, gi);
    });
  }
  // What the process has of a flow, halos included.
  void left(const Flow& flow) {
    const auto& low = s_.block.owned.lower;
    each([&](Index k, Index j, Index i) {
      const grid::Point<3> local{k, j - low[1], i - low[2]};
      y_[0][at(k, j, i)] = flow.u[local], y_[1][at(k, j, i)] = flow.v[local], y_[2][at(k, j, i)] = flow.h[local];
    });
  }

  double u(Index k, Index j, Index i) const { return get(0, k, j, i); }
  double v(Index k, Index j, Index i) const { return get(1, k, j, i); }
  double h(Index k, Index j, Index i) const { return get(2, k, j, i); }
  // Returns the value of a cell that is inside.
  double& value(std::size_t field, Index k, Index j, Index i) { return y_[field][at(k, j, i)]; }
  void take(const Cells& other) { y_ = other.y_; }
  bool wet(Index j, Index i) const { return inside(j, i) && land_[at(0, j, i)] == 0; }

  // What vorticity turns and what kinetic energy pushes.
  double turning_u(Index k, Index j, Index i) const {
    double turn = 0;
    for (const Index jj : {j, j + 1})
      for (const Index ii : {i - 1, i})
        turn += (p_.form == Form::energy ? q(k, jj, i) : (q(k, j, i) + q(k, j + 1, i)) / 2) * flux_v(k, jj, ii) / 4;
    return turn - (kinetic(k, j, i) - kinetic(k, j, i - 1)) / p_.dx();
  }
  double turning_v(Index k, Index j, Index i) const {
    double turn = 0;
    for (const Index ii : {i, i + 1})
      for (const Index jj : {j - 1, j})
        turn += (p_.form == Form::energy ? q(k, j, ii) : (q(k, j, i) + q(k, j, i + 1)) / 2) * flux_u(k, jj, ii) / 4;
    return -turn - (kinetic(k, j, i) - kinetic(k, j - 1, i)) / p_.dy();
  }
  // lap u, as the gradient of divergence less the curl of vorticity.
  double spread_u(Index k, Index j, Index i) const {
    return (divergence(k, j, i) - divergence(k, j, i - 1)) / p_.dx() - (zeta(k, j + 1, i) - zeta(k, j, i)) / p_.dy();
  }
  double spread_v(Index k, Index j, Index i) const {
    return (divergence(k, j, i) - divergence(k, j - 1, i)) / p_.dy() + (zeta(k, j, i + 1) - zeta(k, j, i)) / p_.dx();
  }
  // lap lap u; the inner one is none on faces along coasts.
  double curved_u(Index k, Index j, Index i) const {
    return (bent_divergence(k, j, i) - bent_divergence(k, j, i - 1)) / p_.dx() - (bent_zeta(k, j + 1, i) - bent_zeta(k, j, i)) / p_.dy();
  }
  double curved_v(Index k, Index j, Index i) const {
    return (bent_divergence(k, j, i) - bent_divergence(k, j - 1, i)) / p_.dy() + (bent_zeta(k, j, i + 1) - bent_zeta(k, j, i)) / p_.dx();
  }
  double rate_h(Index k, Index j, Index i) const {
    return -(flux_u(k, j, i + 1) - flux_u(k, j, i)) / p_.dx() - (flux_v(k, j + 1, i) - flux_v(k, j, i)) / p_.dy();
  }
  double flux_u(Index k, Index j, Index i) const { return u(k, j, i) * (p_.linear() ? p_.rest(k) : (h(k, j, i - 1) + h(k, j, i)) / 2); }
  double flux_v(Index k, Index j, Index i) const { return v(k, j, i) * (p_.linear() ? p_.rest(k) : (h(k, j - 1, i) + h(k, j, i)) / 2); }
  double head(Index k, Index j, Index i) const { return pressure(k, j, i) + kinetic(k, j, i); }
  // Returns the pressure of the surfaces from `first` on.
  double pressure(Index k, Index j, Index i, Index first = 0) const {
    double m = 0;
    for (Index upper = first; upper <= k; ++upper) m += p_.reduced(upper) * height(upper, j, i);
    return m;
  }
  // Returns the height of a layer's upper surface above its rest.
  double height(Index k, Index j, Index i) const {
    double height = bottom_at(p_, around(j, p_.ny, 1), around(i, p_.nx, 2));
    for (Index n = p_.layers; n-- > k;) height += h(n, j, i) - p_.rest(n);
    return height;
  }
  double kinetic(Index k, Index j, Index i) const { return p_.linear() ? 0 : moving(k, j, i); }
  double moving(Index k, Index j, Index i) const {
    return (std::pow(u(k, j, i), 2) + std::pow(u(k, j, i + 1), 2) + std::pow(v(k, j, i), 2) + std::pow(v(k, j + 1, i), 2)) / 4;
  }
  // At the south-western corner.
  double q(Index k, Index j, Index i) const {
    if (p_.linear()) return p_.coriolis(j) / p_.rest(k);
    const double mean = std::max(corner_h(k, j, i), p_.bounded() && wets(j, i) > 0 ? half_largest(k, j, i) : 0);
    return mean == 0 ? 0 : vortex(k, j, i) / mean;
  }
  double vortex(Index k, Index j, Index i) const { return zeta(k, j, i) + p_.coriolis(around(j, p_.ny, 1)); }
  double corner_h(Index k, Index j, Index i) const {
    const int count = wets(j, i);
    return count == 0 ? 0 : (h(k, j, i) + h(k, j, i - 1) + h(k, j - 1, i) + h(k, j - 1, i - 1)) / count;
  }

  // Half the thickest of the sixteen cells around a corner.
  double half_largest(Index k, Index j, Index i) const {
    double most = 0;
    for (Index y = j - 2; y < j + 2; ++y)
      for (Index x = i - 2; x < i + 2; ++x) most = std::max(most, h(k, y, x));
    return most / 2;
  }

 protected:
  using Index2 = std::array<Index, 2>;
  bool inside(Index j, Index i) const { return j >= low_[0] && j < high_[0] && i >= low_[1] && i < high_[1]; }
  std::size_t at(Index k, Index j, Index i) const { return static_cast<std::size_t>((k * rows_ + j - low_[0]) * columns_ + i - low_[1]); }
  double get(std::size_t field, Index k, Index j, Index i) const { return inside(j, i) ? y_[field][at(k, j, i)] : 0; }
  Index around(Index x, Index n, std::size_t d) const { return p_.domain().periodic[d] ? (x % n + n) % n : x; }
  int wets(Index j, Index i) const { return wet(j, i) + wet(j, i - 1) + wet(j - 1, i) + wet(j - 1, i - 1); }
  double zeta(Index k, Index j, Index i) const {
    return slipping(j, i, (v(k, j, i) - v(k, j, i - 1)) / p_.dx() - (u(k, j, i) - u(k, j - 1, i)) / p_.dy());
  }
  double slipping(Index j, Index i, double z) const { return wets(j, i) == 4 ? z : p_.slip == Slip::free ? 0 : 2 * z; }
  double bent_u(Index k, Index j, Index i) const { return wet(j, i) && wet(j, i - 1) ? spread_u(k, j, i) : 0; }
  double bent_v(Index k, Index j, Index i) const { return wet(j, i) && wet(j - 1, i) ? spread_v(k, j, i) : 0; }
  double bent_zeta(Index k, Index j, Index i) const {
    return slipping(j, i, (bent_v(k, j, i) - bent_v(k, j, i - 1)) / p_.dx() - (bent_u(k, j, i) - bent_u(k, j - 1, i)) / p_.dy());
  }
  double bent_divergence(Index k, Index j, Index i) const {
    return (bent_u(k, j, i + 1) - bent_u(k, j, i)) / p_.dx() + (bent_v(k, j + 1, i) - bent_v(k, j, i)) / p_.dy();
  }
  double divergence(Index k, Index j, Index i) const {
    return (u(k, j, i + 1) - u(k, j, i)) / p_.dx() + (v(k, j + 1, i) - v(k, j, i)) / p_.dy();
  }
  template <class Visit>
  void each(Visit visit) const {
    for (Index k = 0; k < p_.layers; ++k)
      for (Index j = low_[0]; j < high_[0]; ++j)
        for (Index i = low_[1]; i < high_[1]; ++i) visit(k, j, i);
  }

  const State& s_;
  const decltype(State::p)& p_;
  Index2 low_{}, high_{};
  Index rows_ = 0, columns_ = 0;
  std::vector<char> land_;
  std::array<std::vector<double>, 3> y_;
};

}  // namespace ocean
