// What follows from a flow on the line j, of all layers: fluxes, vorticity, pressures; one body for all ways of stepping, into whole fields (those
// of a Sea) or into the lines at hand (Lines).
#pragma once

#include <algorithm>

#include "sea.hpp"

namespace ocean::inline FL_ROLE {

// Cells of the line that follows may be done in any order, whatever a compiler fears of so many addresses.
#ifdef __clang__
#define OCEAN_ANY_ORDER _Pragma("clang loop vectorize(assume_safety)")
#else
#define OCEAN_ANY_ORDER _Pragma("GCC ivdep")
#endif

// Some lines of a field, of which a new one takes the place of that four before; so many cells from `first` on, and one beside them at either end.
class Ring {
 public:
  static constexpr Index held = 4;  // lines
  Ring() = default;
  Ring(Index layers, Index width) : pitch_((width + 2 + 15) / 8 * 8), memory_(layers * held * pitch_) {}
  struct View {
    double* origin;
    Index pitch;
    double& operator()(Index k, Index j, Index i) const { return origin[(k * held + (j & (held - 1))) * pitch + i]; }
  };
  View view() { return {memory_.data() + 8 - first, pitch_}; }
  Index first = 0;

 private:
  Index pitch_ = 0;
  fl::Array<double> memory_;
};
struct Lines {
  Ring flux_u, flux_v, potential, head, vorticity, spread;
  Lines() = default;
  Lines(Index layers, Index width) {
    for (Ring* ring : all()) *ring = Ring(layers, width);
  }
  void begin_at(Index first) {
    for (Ring* ring : all()) ring->first = first;
  }
  std::array<Ring*, 6> all() { return {&flux_u, &flux_v, &potential, &head, &vorticity, &spread}; }
};

inline constexpr double no_water = 1e-9;  // m, of four cells around a corner together

// Fluxes, vorticity, divergence.
template <bool linear, class State, class To>
void fluxes(State& s, Flow& from, To& to, Index j, Index begin, Index end) {
  const auto& p = s.p;
  const double rdx = 1 / p.dx(), rdy = 1 / p.dy(), f = p.coriolis(s.block.owned.lower[1] + j);
  const auto u = from.u.view(), v = from.v.view(), h = from.h.view();
  for (Index k = 0; k < p.layers; ++k) {
    const double *uc = &u(k, j, 0), *us = uc - u.stride[1], *vc = &v(k, j, 0), *vn = vc + v.stride[1];
    const double *hc = &h(k, j, 0), *hs = hc - h.stride[1];
    const double *count = &s.corners.view()(0, j, 0), *edge = &s.edge.view()(0, j, 0);
    double *fu = &to.flux_u.view()(k, j, 0), *fv = &to.flux_v.view()(k, j, 0), *q = &to.potential.view()(k, j, 0);
    double *z = &to.vorticity.view()(k, j, 0), *d = &to.spread.view()(k, j, 0);
    const double rest = p.rest(k);
    OCEAN_ANY_ORDER
    for (Index i = begin; i < end; ++i) {
      fu[i] = uc[i] * (linear ? rest : 0.5 * (hc[i - 1] + hc[i]));
      fv[i] = vc[i] * (linear ? rest : 0.5 * (hs[i] + hc[i]));
      const double zeta = ((vc[i] - vc[i - 1]) * rdx - (uc[i] - us[i]) * rdy) * edge[i];
      const double around = std::max((hc[i - 1] + hc[i]) + (hs[i - 1] + hs[i]), no_water);
      z[i] = zeta;
      q[i] = linear ? f / rest : (zeta + f) * count[i] / around;
      d[i] = (uc[i + 1] - uc[i]) * rdx + (vn[i] - vc[i]) * rdy;
    }
  }
}

// Vorticity and divergence of another flow, for friction.
template <class State>
void swirl(State& s, const Flow& flow, Index j, Index begin, Index end) {
  const double rdx = 1 / s.p.dx(), rdy = 1 / s.p.dy();
  const auto u = flow.u.view(), v = flow.v.view();
  for (Index k = 0; k < s.p.layers; ++k) {
    const double *uc = &u(k, j, 0), *us = uc - u.stride[1], *vc = &v(k, j, 0), *edge = &s.edge.view()(0, j, 0);
    double* z = &s.vorticity.view()(k, j, 0);
    OCEAN_ANY_ORDER
    for (Index i = begin; i < end; ++i) z[i] = ((vc[i] - vc[i - 1]) * rdx - (uc[i] - us[i]) * rdy) * edge[i];
  }
}
template <class State>
void diverge(State& s, const Flow& flow, Index j, Index begin, Index end) {
  const double rdx = 1 / s.p.dx(), rdy = 1 / s.p.dy();
  const auto u = flow.u.view(), v = flow.v.view();
  for (Index k = 0; k < s.p.layers; ++k) {
    const double *uc = &u(k, j, 0), *vc = &v(k, j, 0), *vn = vc + v.stride[1];
    double* d = &s.spread.view()(k, j, 0);
    OCEAN_ANY_ORDER
    for (Index i = begin; i < end; ++i) d[i] = (uc[i + 1] - uc[i]) * rdx + (vn[i] - vc[i]) * rdy;
  }
}
template <class State>
void rub(State& s, const Flow& flow, Index j, Index begin, Index end) {
  swirl(s, flow, j, begin, end), diverge(s, flow, j, begin, end);
}
// lap u, from vorticity and divergence.
template <class State>
void bend(State& s, Index j, Index begin, Index end) {
  const double rdx = 1 / s.p.dx(), rdy = 1 / s.p.dy();
  const double *open_u = &s.face_u.view()(0, j, 0), *open_v = &s.face_v.view()(0, j, 0);
  for (Index k = 0; k < s.p.layers; ++k) {
    const double *z = &s.vorticity.view()(k, j, 0), *d = &s.spread.view()(k, j, 0);
    const double *zn = z + s.vorticity.view().stride[1], *ds = d - s.spread.view().stride[1];
    double *u = &s.bent.u.view()(k, j, 0), *v = &s.bent.v.view()(k, j, 0);
    OCEAN_ANY_ORDER
    for (Index i = begin; i < end; ++i) {
      u[i] = ((d[i] - d[i - 1]) * rdx - (zn[i] - z[i]) * rdy) * open_u[i];
      v[i] = ((d[i] - ds[i]) * rdy + (z[i + 1] - z[i]) * rdx) * open_v[i];
    }
  }
}

// M of layers of such thickness: heights of surfaces from the bottom up, then M from the top down. The sea's own surface weighs `surface`,
// which is nothing where it is advanced apart from the layers.
template <class State, class To>
void pressures(State& s, const grid::Field<double, 3>& thickness, To& to, Index j, Index begin, Index end, double surface = gravity) {
  const auto& p = s.p;
  const auto h = thickness.view();
  const auto head = to.head.view();
  const double* bottom = &s.bottom.view()(0, j, 0);
  for (Index k = p.layers; k-- > 0;) {
    const double* below = k == p.layers - 1 ? bottom : &head(k + 1, j, 0);
    const double* hc = &h(k, j, 0);
    double* m = &head(k, j, 0);
    const double rest = p.rest(k);
    OCEAN_ANY_ORDER
    for (Index i = begin; i < end; ++i) m[i] = below[i] + (hc[i] - rest);
  }
  for (Index k = 0; k < p.layers; ++k) {
    const double g = k == 0 ? surface : p.reduced(k);
    const double* above = k == 0 ? nullptr : &head(k - 1, j, 0);
    double* m = &head(k, j, 0);
    if (above == nullptr)
      for (Index i = begin; i < end; ++i) m[i] = g * m[i];
    else {
      OCEAN_ANY_ORDER
      for (Index i = begin; i < end; ++i) m[i] = above[i] + g * m[i];
    }
  }
}

// Adds the energy of the flow.
template <class State, class To>
void kinetic(State& s, Flow& from, To& to, Index j, Index begin, Index end) {
  const auto u = from.u.view(), v = from.v.view();
  for (Index k = 0; k < s.p.layers; ++k) {
    const double *uc = &u(k, j, 0), *vc = &v(k, j, 0), *vn = vc + v.stride[1];
    double* m = &to.head.view()(k, j, 0);
    OCEAN_ANY_ORDER
    for (Index i = begin; i < end; ++i) m[i] += 0.25 * ((uc[i] * uc[i] + uc[i + 1] * uc[i + 1]) + (vc[i] * vc[i] + vn[i] * vn[i]));
  }
}

// (zeta + f) v at a western face, of lines of q and of fluxes through southern faces, and of those north of them.
template <Form form>
double turned_u(const double* q, const double* qn, const double* fv, const double* fvn, Index i) {
  if constexpr (form == Form::energy) return 0.25 * (q[i] * (fv[i - 1] + fv[i]) + qn[i] * (fvn[i - 1] + fvn[i]));
  return 0.125 * (q[i] + qn[i]) * ((fv[i - 1] + fv[i]) + (fvn[i - 1] + fvn[i]));
}
// (zeta + f) u at a southern face, of a line of q and of fluxes through western faces, and of those south of them.
template <Form form>
double turned_v(const double* q, const double* fus, const double* fu, Index i) {
  if constexpr (form == Form::energy) return 0.25 * (q[i] * (fus[i] + fu[i]) + q[i + 1] * (fus[i + 1] + fu[i + 1]));
  return 0.125 * (q[i] + q[i + 1]) * ((fus[i] + fu[i]) + (fus[i + 1] + fu[i + 1]));
}

// R. Asselin, Mon. Wea. Rev. 100 (1972) 487, before the middle one is needed; of all elements, for halos are as good as what they copy.
template <class Team>
void filter(Flow& first, Flow& middle, Flow& last, double part, const Team& team) {
  auto before = first.all(), now = middle.all(), next = last.all();
  team([&](Index share, Index shares) {
    for (std::size_t n = 0; n < 3; ++n) {
      const double *b = before[n]->data(), *c = next[n]->data();
      double* x = now[n]->data();
      const fl::Part mine = fl::part(now[n]->layout().elements, shares, share);
      for (Index e = mine.begin; e < mine.end; ++e) x[e] += part * (b[e] - 2 * x[e] + c[e]);
    }
  });
}

}  // namespace ocean::inline FL_ROLE
