// The judge's own run, of the whole ocean on each process: every difference is a function of a cell or of a face, called for its value;
// tables keep what is needed often. Written from the equations, with none of the variants' code.
#pragma once

#include "../cells.hpp"
#include "inputs.hpp"

namespace ocean_micom {

inline constexpr double dearest = 3e6;    // cells, layers and time steps
inline constexpr double spun_up = 1.5e7;  // s, fifteen times 1 / r
inline bool replayed(const Params& p) { return static_cast<double>(p.nx * p.ny * p.layers * p.steps) < dearest; }
// Whether the end of a run is known without another run.
inline bool known(const Params& p) {
  const double time = p.longest() * 0.76 * static_cast<double>(p.steps);
  return p.problem == Problem::jet || p.problem == Problem::lake || (p.stommel() && time > spun_up);
}

// A table of one or all layers of the whole ocean. A periodic ocean wraps around; nothing is beyond an end.
class Table {
 public:
  Table(const Params& p, Index layers) : p_(&p), x_(static_cast<std::size_t>(layers * p.ny * p.nx), 0) {}
  double& at(Index k, Index j, Index i) { return x_[static_cast<std::size_t>((k * p_->ny + j) * p_->nx + i)]; }
  double operator()(Index k, Index j, Index i) const {
    if (!p_->closed()) i = (i + p_->nx) % p_->nx;
    const bool inside = j >= 0 && j < p_->ny && i >= 0 && i < p_->nx;
    return inside ? x_[static_cast<std::size_t>((k * p_->ny + j) * p_->nx + i)] : 0;
  }
  double operator()(Index j, Index i) const { return (*this)(0, j, i); }

 private:
  const Params* p_;
  std::vector<double> x_;
};

class Replay {
 public:
  using Cells = ocean::Cells<State>;

  explicit Replay(const State& s)
      : s_(s), p_(s.p), before_(s, {{0, 0}, {p_.ny, p_.nx}}, around), now_(before_), next_(before_), bent_(before_) {
    now_.begin(), before_.begin();
  }
  const Cells& run() {
    for (Index t = 0; t < p_.steps; ++t) {
      step(t == 0 ? s_.dt : 2 * s_.dt, t == 0 ? p_.substeps : 2 * p_.substeps);
      if (t > 0)
        each(p_.layers, [&](Index k, Index j, Index i) {
          for (const std::size_t f : {u, v, h}) {
            double& middle = now_.value(f, k, j, i);
            middle += p_.filter * (before_.value(f, k, j, i) - 2 * middle + next_.value(f, k, j, i));
          }
        });
      wrap(now_);
      before_.take(now_), now_.take(next_);
    }
    return now_;
  }

 private:
  static constexpr std::size_t u = 0, v = 1, h = 2;
  static constexpr Index around = 4;

  template <class Visit>
  void each(Index layers, const Visit& visit) const {
    for (Index k = 0; k < layers; ++k)
      for (Index j = 0; j < p_.ny; ++j)
        for (Index i = 0; i < p_.nx; ++i) visit(k, j, i);
  }
  void wrap(Cells& cells) const {
    if (p_.closed()) return;
    for (const std::size_t f : {u, v, h})
      for (Index k = 0; k < p_.layers; ++k)
        for (Index j = 0; j < p_.ny; ++j)
          for (Index i = 0; i < around; ++i) {
            cells.value(f, k, j, i - around) = cells.value(f, k, j, p_.nx + i - around);
            cells.value(f, k, j, p_.nx + i) = cells.value(f, k, j, i);
          }
  }

  // --- faces: to the west (d = 0) or to the south (d = 1) of a cell
  bool open(int d, Index j, Index i) const { return now_.wet(j, i) && (d == 0 ? now_.wet(j, i - 1) : now_.wet(j - 1, i)); }
  static double behind(const Table& table, int d, Index k, Index j, Index i) { return d == 0 ? table(k, j, i - 1) : table(k, j - 1, i); }
  double at_face(int d, Index k, Index j, Index i) const { return faces_[static_cast<std::size_t>(d)](k, j, i); }
  // Depth of a layer's lower end below the surface, and of the higher one of two bottoms.
  Table ends(const Cells& cells) const {
    Table all(p_, p_.layers);
    each(p_.layers, [&](Index k, Index j, Index i) { all.at(k, j, i) = (k == 0 ? 0 : all(k - 1, j, i)) + cells.h(k, j, i); });
    return all;
  }
  double sill(const Table& ends, int d, Index j, Index i) const {
    return std::min(ends(p_.layers - 1, j, i), behind(ends, d, p_.layers - 1, j, i));
  }
  // What of layers is at faces, between the means of their ends and above the sill.
  Table thicknesses(int d) const {
    const Table lower = ends(now_);
    Table all(p_, p_.layers);
    each(p_.layers, [&](Index k, Index j, Index i) {
      const auto end = [&](Index n) {
        return n < 0 ? 0 : std::min(sill(lower, d, j, i), (lower(n, j, i) + behind(lower, d, n, j, i)) / 2);
      };
      all.at(k, j, i) = end(k) - end(k - 1);
    });
    return all;
  }
  static double flow(const Cells& cells, int d, Index k, Index j, Index i) { return d == 0 ? cells.u(k, j, i) : cells.v(k, j, i); }
  double width(int d) const { return d == 0 ? p_.dx() : p_.dy(); }
  template <class F>
  static double across(const F& f, int d, Index k, Index j, Index i) {
    return f(k, j, i) - (d == 0 ? f(k, j, i - 1) : f(k, j - 1, i));
  }
  double depth(int d, Index j, Index i) const {
    double sum = 0;
    for (Index k = 0; k < p_.layers; ++k) sum += at_face(d, k, j, i);
    return sum;
  }
  // Returns the mean of a value of each layer, weighted by thickness.
  template <class F>
  double mean(int d, Index j, Index i, const F& f) const {
    double sum = 0;
    for (Index k = 0; k < p_.layers; ++k) sum += at_face(d, k, j, i) * f(k);
    return sum / depth(d, j, i);
  }
  static double share(double thickness) { return thickness >= thin ? 1 : thickness / thin; }
  // What layer k has of the metres from the top (or from the bottom) on down (or up) to `zone`, by metre of its own.
  double zone(int d, Index k, Index j, Index i, double zone, bool from_bottom) const {
    double beyond = 0;
    for (Index n = 0; n < p_.layers; ++n)
      if (from_bottom ? n > k : n < k) beyond += at_face(d, n, j, i);
    const double own = at_face(d, k, j, i), left = std::clamp(zone - beyond, 0.0, own);
    return left / (own > thin ? own : thin);
  }

  // What pushes a layer, except for the surface's slope.
  double push(int d, Index k, Index j, Index i, const Table& heads) const {
    // Kinetic energy pushes with the head; turning has it already where all of it does.
    const double energy = across([&](Index n, Index y, Index x) { return now_.kinetic(n, y, x); }, d, k, j, i);
    const double both = across(heads, d, k, j, i) + energy;
    const double source = both > 0 ? now_.h(k, j, i) : d == 0 ? now_.h(k, j, i - 1) : now_.h(k, j - 1, i);
    const double turning = (d == 0 ? now_.turning_u(k, j, i) : now_.turning_v(k, j, i)) + energy / width(d);
    const double bent = d == 0 ? before_.spread_u(k, j, i) : before_.spread_v(k, j, i);
    const double twice = biharmonic(p_) == 0 ? 0 : d == 0 ? bent_.spread_u(k, j, i) : bent_.spread_v(k, j, i);
    const double blown = d == 0 ? ocean::stress_at(p_, j, s_.wind) / (ocean::density * stirred) * zone(d, k, j, i, stirred, false) : 0;
    const double rubbed = drag(p_) * zone(d, k, j, i, p_.dragged_depth(), true) * flow(before_, d, k, j, i);
    return turning - both / width(d) * share(source) + viscosity(p_) * bent - biharmonic(p_) * twice + blown - rubbed;
  }

  void step(double span, Index substeps) {
    Table heads(p_, p_.layers), pushes[2] = {heads, heads};
    faces_ = {thicknesses(0), thicknesses(1)};
    each(p_.layers, [&](Index k, Index j, Index i) {
      if (now_.wet(j, i)) heads.at(k, j, i) = (k == 0 ? 0 : heads(k - 1, j, i) + p_.reduced(k) * now_.height(k, j, i));
      bent_.value(u, k, j, i) = open(0, j, i) ? before_.spread_u(k, j, i) : 0;
      bent_.value(v, k, j, i) = open(1, j, i) ? before_.spread_v(k, j, i) : 0;
    });
    wrap(bent_);
    for (const int d : {0, 1})
      each(p_.layers, [&](Index k, Index j, Index i) { pushes[d].at(k, j, i) = open(d, j, i) ? push(d, k, j, i, heads) : 0; });
    surface(span / static_cast<double>(substeps), substeps, pushes);
    for (const int d : {0, 1})
      each(p_.layers, [&](Index k, Index j, Index i) {
        double& mine = next_.value(d == 0 ? u : v, k, j, i);
        if (!open(d, j, i)) return;
        mine = flow(before_, d, k, j, i) + span * (pushes[d](k, j, i) - slopes_[d](j, i));
        if (k == 0) return;
        const double part = share(at_face(d, k, j, i));
        mine = part * mine + (1 - part) * flow(next_, d, k - 1, j, i);
      });
    transport(span);
    wrap(next_);
  }

  // Fills means_ and slopes_ with what all sub-steps came to.
  void surface(double dt, Index substeps, const Table (&pushes)[2]) {
    const Table none(p_, 1);
    Table eta = none, ahead = none, mean_push[2] = {none, none}, flows[2] = {none, none}, deep[2] = {none, none};
    each(1, [&](Index, Index j, Index i) {
      if (before_.wet(j, i)) eta.at(0, j, i) = before_.height(0, j, i);
      for (const int d : {0, 1}) {
        if (!open(d, j, i)) continue;
        deep[d].at(0, j, i) = depth(d, j, i);
        mean_push[d].at(0, j, i) = mean(d, j, i, [&](Index k) { return pushes[d](k, j, i); });
        flows[d].at(0, j, i) = mean(d, j, i, [&](Index k) { return flow(before_, d, k, j, i); });
      }
    });
    means_ = {none, none}, slopes_ = {none, none};
    const auto flux = [&](int d, Index j, Index i) { return deep[d](j, i) * flows[d](j, i); };
    for (Index n = 0; n < substeps; ++n) {
      each(1, [&](Index, Index j, Index i) {
        const double was = eta(j, i), out = (flux(0, j, i + 1) - flux(0, j, i)) / p_.dx() + (flux(1, j + 1, i) - flux(1, j, i)) / p_.dy();
        eta.at(0, j, i) = was - dt * out;
        ahead.at(0, j, i) = (1 + leap) * eta(j, i) - leap * was;
      });
      for (const int d : {0, 1})
        each(1, [&](Index, Index j, Index i) {
          if (!open(d, j, i)) return;
          const double slope = gravity * across(ahead, d, 0, j, i) / width(d), part = 1 / static_cast<double>(substeps);
          means_[static_cast<std::size_t>(d)].at(0, j, i) += flows[d](j, i) * part;
          slopes_[static_cast<std::size_t>(d)].at(0, j, i) += slope * part;
          flows[d].at(0, j, i) += dt * (mean_push[d](j, i) - slope);
        });
    }
  }

  // --- thickness
  // What carries a layer through a face.
  double carrier(int d, Index k, Index j, Index i) const {
    if (!open(d, j, i)) return 0;
    return flow(now_, d, k, j, i) - mean(d, j, i, [&](Index n) { return flow(now_, d, n, j, i); }) +
           means_[static_cast<std::size_t>(d)](j, i);
  }
  void transport(double span) {
    const Table all(p_, p_.layers);
    Table upwind[2] = {all, all}, more[2] = {all, all}, after = all, gain = all, loss = all, kept = all, limited[2] = {all, all};
    const Table lower = ends(before_);
    for (const int d : {0, 1})
      each(p_.layers, [&](Index k, Index j, Index i) {
        const double c = carrier(d, k, j, i);
        const Index y = c > 0 && d == 1 ? j - 1 : j, x = c > 0 && d == 0 ? i - 1 : i;
        upwind[d].at(k, j, i) = c * std::clamp(sill(lower, d, j, i) - (k == 0 ? 0 : lower(k - 1, y, x)), 0.0, before_.h(k, y, x));
        more[d].at(k, j, i) = c * at_face(d, k, j, i) - upwind[d](k, j, i);
      });
    const auto out_of = [&](const Table(&flux)[2], Index k, Index j, Index i) {
      return (flux[0](k, j, i + 1) - flux[0](k, j, i)) / p_.dx() + (flux[1](k, j + 1, i) - flux[1](k, j, i)) / p_.dy();
    };
    each(p_.layers, [&](Index k, Index j, Index i) { after.at(k, j, i) = before_.h(k, j, i) - span * out_of(upwind, k, j, i); });
    each(p_.layers, [&](Index k, Index j, Index i) {
      if (!now_.wet(j, i)) return;
      double most = 0, least = INFINITY, in = 0, out = 0;
      for (const auto& [y, x] : {std::pair{j, i}, {j, i - 1}, {j, i + 1}, {j - 1, i}, {j + 1, i}}) {
        if (!now_.wet(y, x)) continue;
        most = std::max({most, after(k, y, x), before_.h(k, y, x)}), least = std::min({least, after(k, y, x), before_.h(k, y, x)});
      }
      const auto through = [&](double flux, double wide) { (flux > 0 ? in : out) += span * std::fabs(flux) / wide; };
      through(more[0](k, j, i), p_.dx()), through(-more[0](k, j, i + 1), p_.dx());
      through(more[1](k, j, i), p_.dy()), through(-more[1](k, j + 1, i), p_.dy());
      gain.at(k, j, i) = in == 0 ? 0 : std::min(1.0, (most - after(k, j, i)) / in);
      loss.at(k, j, i) = out == 0 ? 0 : std::min(1.0, (after(k, j, i) - least) / out);
      kept.at(k, j, i) = least;
    });
    for (const int d : {0, 1})
      each(p_.layers, [&](Index k, Index j, Index i) {
        const Index y = d == 0 ? j : j - 1, x = d == 0 ? i - 1 : i;
        const bool forth = more[d](k, j, i) > 0;
        const double part = forth ? std::min(loss(k, y, x), gain(k, j, i)) : std::min(loss(k, j, i), gain(k, y, x));
        limited[d].at(k, j, i) = p_.thickness == Thickness::upwind ? 0 : part * more[d](k, j, i);
      });
    // What is missing of the sum over layers comes from where it flows from, of each layer by what it keeps there above the sill.
    for (const int d : {0, 1})
      each(1, [&](Index, Index j, Index i) {
        double missing = 0, all_of_them = 0;
        for (Index k = 0; k < p_.layers; ++k) missing += more[d](k, j, i) - limited[d](k, j, i);
        const Index y = missing > 0 && d == 1 ? j - 1 : j, x = missing > 0 && d == 0 ? i - 1 : i;
        const auto weight = [&](Index k) {
          const double top = k == 0 ? 0 : lower(k - 1, y, x);
          return std::min(kept(k, y, x), std::clamp(sill(lower, d, j, i) - top, 0.0, before_.h(k, y, x)));
        };
        if (missing == 0) return;
        for (Index k = 0; k < p_.layers; ++k) all_of_them += weight(k);
        if (all_of_them == 0) return;
        for (Index k = 0; k < p_.layers; ++k) limited[d].at(k, j, i) += missing * weight(k) / all_of_them;
      });
    each(p_.layers, [&](Index k, Index j, Index i) {
      if (now_.wet(j, i)) next_.value(h, k, j, i) = after(k, j, i) - span * out_of(limited, k, j, i);
    });
  }

  const State& s_;
  const Params& p_;
  Cells before_, now_, next_, bent_;
  std::vector<Table> faces_, means_, slopes_;
};

}  // namespace ocean_micom
