// The judge's own semi-implicit run: the coupled equation of all layers and cells, without modes and transforms, by elimination in the
// band of one symmetric matrix,
//
//   (G^-1 + a^2 H L) P = (h_before + h*) / 2 - a div(H W*) - H,     L = -lap,  W = (u + u_before) / 2 - u_now
//
// G^-1 being the differences that turn pressures of layers into thicknesses.
#pragma once

#include "replay.hpp"

namespace ocean_nlom {

// L L^T of a symmetric positive definite matrix that is zero except for `band` places next to the diagonal.
class Band {
 public:
  Band(Index n, Index band) : n_(n), band_(band), a_(static_cast<std::size_t>(n * (band + 1)), 0) {}
  // Returns the element in row r and column c <= r.
  double& at(Index r, Index c) { return a_[static_cast<std::size_t>(r * (band_ + 1) + band_ + c - r)]; }
  void factor() {
    for (Index r = 0; r < n_; ++r)
      for (Index c = std::max<Index>(0, r - band_); c <= r; ++c) {
        double sum = at(r, c);
        for (Index k = std::max<Index>(0, r - band_); k < c; ++k) sum -= at(r, k) * at(c, k);
        at(r, c) = r == c ? std::sqrt(sum) : sum / at(c, c);
      }
  }
  void solve(std::vector<double>& x) {
    for (Index r = 0; r < n_; ++r) {
      double& sum = x[static_cast<std::size_t>(r)];
      for (Index k = std::max<Index>(0, r - band_); k < r; ++k) sum -= at(r, k) * x[static_cast<std::size_t>(k)];
      sum /= at(r, r);
    }
    for (Index r = n_; r-- > 0;) {
      double& found = x[static_cast<std::size_t>(r)];
      found /= at(r, r);
      for (Index k = std::max<Index>(0, r - band_); k < r; ++k) x[static_cast<std::size_t>(k)] -= at(r, k) * found;
    }
  }

 private:
  Index n_, band_;
  std::vector<double> a_;
};

// Whether it could be paid for.
inline bool eliminable(const Params& p) {
  const double cells = static_cast<double>(p.nx * p.ny * p.layers), band = static_cast<double>(std::min(p.nx, p.ny) * p.layers);
  const auto steps = static_cast<double>(p.steps);
  return cells * steps < dearest && cells * band * (2 * band + 4 * steps) < 1e9;
}

class Implicit {
 public:
  explicit Implicit(const State& s) : s_(s), p_(s.p), now_(s, whole()), before_(now_), next_(now_) {}
  const Replay& run() {
    for (Index t = 0; t < p_.steps; ++t) {
      const double span = t == 0 ? s_.dt : 2 * s_.dt;
      if (t < 2) matrix(span / 2);
      if (t > 1) filter();
      step(span);
      last_.emplace(before_), before_.take(now_), now_.take(next_);
    }
    return now_;
  }

 private:
  grid::Box<2> whole() const { return {{0, 0}, {p_.ny, p_.nx}}; }
  static constexpr std::size_t u = 0, v = 1, h = 2;

  // The narrower way across is the band.
  Index number(Index k, Index j, Index i) const { return (p_.nx < p_.ny ? j * p_.nx + i : i * p_.ny + j) * p_.layers + k; }
  bool west(Index j, Index i) const { return now_.wet(j, i) && now_.wet(j, i - 1); }
  bool south(Index j, Index i) const { return now_.wet(j, i) && now_.wet(j - 1, i); }
  double gravity_below(Index k) const { return p_.reduced(k); }

  void matrix(double a) {
    band_.emplace(p_.nx * p_.ny * p_.layers, std::min(p_.nx, p_.ny) * p_.layers);
    // Adds the square of a difference between two places of which the second comes first, or of one place alone.
    const auto square = [&](Index one, Index other, double weight) {
      band_->at(one, one) += weight;
      if (other < 0) return;
      band_->at(other, other) += weight, band_->at(std::max(one, other), std::min(one, other)) -= weight;
    };
    each([&](Index k, Index j, Index i) {
      const Index here = number(k, j, i);
      square(here, k == 0 ? -1 : number(k - 1, j, i), 1 / gravity_below(k));
      if (west(j, i)) square(here, number(k, j, i - 1), a * a * p_.rest(k) / (p_.dx() * p_.dx()));
      if (south(j, i)) square(here, number(k, j - 1, i), a * a * p_.rest(k) / (p_.dy() * p_.dy()));
    });
    band_->factor();
  }
  double spreading(Index k, Index j, Index i) const {
    const auto east = [&](Index at) { return (next_.u(k, j, at) + before_.u(k, j, at)) / 2 - now_.u(k, j, at); };
    const auto north = [&](Index at) { return (next_.v(k, at, i) + before_.v(k, at, i)) / 2 - now_.v(k, at, i); };
    return p_.rest(k) * ((east(i + 1) - east(i)) / p_.dx() + (north(j + 1) - north(j)) / p_.dy());
  }
  void step(double span) {
    each([&](Index k, Index j, Index i) {
      if (west(j, i)) next_.value(u, k, j, i) = before_.u(k, j, i) + span * (now_.driven_u(k, j, i) + before_.friction_u(k, j, i));
      if (south(j, i)) next_.value(v, k, j, i) = before_.v(k, j, i) + span * (now_.turning_v(k, j, i) + before_.friction_v(k, j, i));
      next_.value(h, k, j, i) = before_.h(k, j, i) + span * now_.rate_h(k, j, i);
    });
    std::vector<double> pressure(static_cast<std::size_t>(p_.nx * p_.ny * p_.layers));
    const auto found = [&](Index k, Index j, Index i) -> double& { return pressure[static_cast<std::size_t>(number(k, j, i))]; };
    each([&](Index k, Index j, Index i) {
      const double bottom = k == p_.layers - 1 ? bottom_at(p_, j, i) : 0;
      found(k, j, i) = (before_.h(k, j, i) + next_.h(k, j, i)) / 2 - span / 2 * spreading(k, j, i) - p_.rest(k) + bottom;
    });
    band_->solve(pressure);
    each([&](Index k, Index j, Index i) {
      if (west(j, i)) next_.value(u, k, j, i) -= span * (found(k, j, i) - found(k, j, i - 1)) / p_.dx();
      if (south(j, i)) next_.value(v, k, j, i) -= span * (found(k, j, i) - found(k, j - 1, i)) / p_.dy();
    });
    each([&](Index k, Index j, Index i) { next_.value(h, k, j, i) -= span * spreading(k, j, i); });
  }
  void filter() {
    for (const std::size_t field : {u, v, h})
      each([&](Index k, Index j, Index i) {
        before_.value(field, k, j, i) +=
            p_.filter * (last_->value(field, k, j, i) - 2 * before_.value(field, k, j, i) + now_.value(field, k, j, i));
      });
  }
  template <class Visit>
  void each(Visit visit) const {
    for (Index k = 0; k < p_.layers; ++k)
      for (Index j = 0; j < p_.ny; ++j)
        for (Index i = 0; i < p_.nx; ++i) visit(k, j, i);
  }

  const State& s_;
  const Params& p_;
  Replay now_, before_, next_;
  std::optional<Replay> last_;
  std::optional<Band> band_;
};

// Computes how far n + 1 is from what one step makes of n - 1 and n, in a box of this process. The three time levels are what a run left.
class LastStep {
 public:
  LastStep(const State& s, const grid::Box<2>& box)
      : p_(s.p), span_(p_.steps == 1 ? s.dt : 2 * s.dt), before_(s, box, 2), now_(s, box, 2), next_(s, box, 2) {
    before_.left(s.half), now_.left(s.third), next_.left(s.now);
  }
  double u(Index k, Index j, Index i) const {
    if (!now_.wet(j, i) || !now_.wet(j, i - 1)) return next_.u(k, j, i);
    const auto pressure = [&](Index at) { return (before_.pressure(k, j, at) + next_.pressure(k, j, at)) / 2; };
    const double rate = now_.driven_u(k, j, i) + before_.friction_u(k, j, i) - (pressure(i) - pressure(i - 1)) / p_.dx();
    return next_.u(k, j, i) - before_.u(k, j, i) - span_ * rate;
  }
  double v(Index k, Index j, Index i) const {
    if (!now_.wet(j, i) || !now_.wet(j - 1, i)) return next_.v(k, j, i);
    const auto pressure = [&](Index at) { return (before_.pressure(k, at, i) + next_.pressure(k, at, i)) / 2; };
    const double rate = now_.turning_v(k, j, i) + before_.friction_v(k, j, i) - (pressure(j) - pressure(j - 1)) / p_.dy();
    return next_.v(k, j, i) - before_.v(k, j, i) - span_ * rate;
  }
  double h(Index k, Index j, Index i) const {
    const auto east = [&](Index at) { return (next_.u(k, j, at) + before_.u(k, j, at)) / 2 - now_.u(k, j, at); };
    const auto north = [&](Index at) { return (next_.v(k, at, i) + before_.v(k, at, i)) / 2 - now_.v(k, at, i); };
    const double implicit = p_.rest(k) * ((east(i + 1) - east(i)) / p_.dx() + (north(j + 1) - north(j)) / p_.dy());
    return next_.h(k, j, i) - before_.h(k, j, i) - span_ * (now_.rate_h(k, j, i) - implicit);
  }

 private:
  const Params& p_;
  double span_;
  Replay before_, now_, next_;
};

// How many vertical modes are faster: as many as eigenvalues of G^-1 - H / speed^2, symmetric and tridiagonal, are below zero (J. Sylvester).
inline Index faster(const Params& p, double speed) {
  Index count = 0;
  double before = 1;
  for (Index k = 0; k < p.layers; ++k) {
    const auto at = [&](Index layer) { return 1 / p.reduced(layer); };
    const double diagonal = at(k) + (k + 1 < p.layers ? at(k + 1) : 0) - p.rest(k) / (speed * speed);
    before = diagonal - (k == 0 ? 0 : at(k) * at(k) / before);
    if (before < 0) ++count;
  }
  return count;
}

}  // namespace ocean_nlom
