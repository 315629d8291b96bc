// What follows from a flow on the line j, of all layers: fluxes, vorticity, pressures; one body for all ways of stepping, into whole fields
// (those of a Sea) or into the lines at hand (Lines).
#pragma once

#include <algorithm>

#include "bands.hpp"
#include "vectors.hpp"

namespace ocean {

inline constexpr Index cached = 4;  // second caches full
// Whether so many elements are more than threads keep in caches: what is written and not read soon then goes past them, and memory is
// prefetched early.
inline bool beyond_caches(Index elements, Index threads) {
  return elements * static_cast<Index>(sizeof(double)) > cached * threads * fl::second_level_cache();
}

inline constexpr double no_water = 1e-9;  // m, of four cells around a corner together

// Fluxes, vorticity, divergence of the layer k; `moving`: and the energy of the flow, added to the pressure that is there. `fetch`: memory
// is requested what the next line has more, for processors do not follow so many lines by themselves. `strip`, here and below: how many
// elements the strip of a flow that the cells belong to is behind its first one.
template <bool linear, bool moving, class State, class To>
void fluxes(State& s, Flow& from, To& to, Index k, Index j, Index begin, Index end, Index strip = 0, bool fetch = false) {
  const auto& p = s.p;
  const double rdx = 1 / p.dx(), rdy = 1 / p.dy(), f = p.coriolis(s.block.owned.lower[1] + j), rest = p.rest(k);
  const Index flow = line(from.u.view(), k, j) + strip, flat = line(s.edge.view(), 0, j), made = line(to.head.view(), k, j);
  const Index north = from.u.view().stride[1], north_flat = s.edge.view().stride[1];
  const bool fetch_flat = fetch && k == 0;  // what all layers share
  const double *uc = origin(from.u) + flow, *us = uc - north, *vc = origin(from.v) + flow, *vn = vc + north;
  const double *hc = origin(from.h) + flow, *hs = hc - north, *count = origin(s.corners) + flat, *edge = origin(s.edge) + flat;
  const double* bottom = origin(s.bottom) + flat;
  double *fu = origin(to.flux_u) + made, *fv = origin(to.flux_v) + made, *q = origin(to.potential) + made;
  double *z = origin(to.vorticity) + made, *d = origin(to.spread) + made, *m = origin(to.head) + made;
  in_vectors(
      begin, end, [&](Index i, auto put) __attribute__((always_inline)) {
        if (fetch) fetch_later(uc + north + i, vn + north + i, hc + north + i);
        if (fetch_flat) fetch_later(count + north_flat + i, edge + north_flat + i, bottom + north_flat + i);
        const V u_west = at(uc + i), u_east = at(uc + i + 1), v_south = at(vc + i), v_north = at(vn + i);
        const V h_here = at(hc + i), h_south = at(hs + i), h_both = at(hc + i - 1) + h_here;
        const V zeta = ((v_south - at(vc + i - 1)) * rdx - (u_west - at(us + i)) * rdy) * at(edge + i);
        const V around = larger(h_both + (at(hs + i - 1) + h_south), no_water);
        const V turning = linear ? all(f / rest) : (zeta + f) * at(count + i) / around;
        const V divergence = (u_east - u_west) * rdx + (v_north - v_south) * rdy;
        if constexpr (moving)
          put(m + i, at(m + i) + 0.25 * ((u_west * u_west + u_east * u_east) + (v_south * v_south + v_north * v_north)));
        put(fu + i, u_west * (linear ? all(rest) : 0.5 * h_both));
        put(fv + i, v_south * (linear ? all(rest) : 0.5 * (h_south + h_here)));
        put(z + i, zeta), put(q + i, turning), put(d + i, divergence);
      });
}

// Vorticity and divergence of a layer of another flow, for friction.
template <class State, class From, class To>
void swirl(State& s, From& flow, To& to, Index k, Index j, Index begin, Index end, Index strip = 0, bool fetch = false) {
  const double rdx = 1 / s.p.dx(), rdy = 1 / s.p.dy();
  const double* edge = origin(s.edge) + line(s.edge.view(), 0, j);
  const Index own = line(flow.u.view(), k, j) + strip, south = line(flow.u.view(), k, j - 1) + strip, pitch = own - south;
  const double *uc = origin(flow.u) + own, *us = origin(flow.u) + south, *vc = origin(flow.v) + own;
  double* z = origin(to.vorticity) + line(to.vorticity.view(), k, j);
  in_vectors(
      begin, end, [&](Index i, auto put) __attribute__((always_inline)) {
        if (fetch) fetch_later(uc + pitch + i, vc + 2 * pitch + i);
        put(z + i, ((at(vc + i) - at(vc + i - 1)) * rdx - (at(uc + i) - at(us + i)) * rdy) * at(edge + i));
      });
}
template <class State, class From, class To>
void diverge(State& s, From& flow, To& to, Index k, Index j, Index begin, Index end, Index strip = 0) {
  const double rdx = 1 / s.p.dx(), rdy = 1 / s.p.dy();
  const Index own = line(flow.u.view(), k, j) + strip, north = line(flow.u.view(), k, j + 1) + strip;
  const double *uc = origin(flow.u) + own, *vc = origin(flow.v) + own, *vn = origin(flow.v) + north;
  double* d = origin(to.spread) + line(to.spread.view(), k, j);
  in_vectors(
      begin, end, [&](Index i, auto put) __attribute__((always_inline)) {
        put(d + i, (at(uc + i + 1) - at(uc + i)) * rdx + (at(vn + i) - at(vc + i)) * rdy);
      });
}
template <class State, class From, class To>
void rub(State& s, From& flow, To& to, Index j, Index begin, Index end, bool fetch = false) {
  for (Index k = 0; k < s.p.layers; ++k) swirl(s, flow, to, k, j, begin, end, 0, fetch), diverge(s, flow, to, k, j, begin, end);
}
// lap u, from vorticity and divergence.
template <class State, class From, class To>
void bend(State& s, From& of, To& to, Index j, Index begin, Index end) {
  const double rdx = 1 / s.p.dx(), rdy = 1 / s.p.dy();
  const Index flat = line(s.face_u.view(), 0, j);
  const double *open_u = origin(s.face_u) + flat, *open_v = origin(s.face_v) + flat;
  for (Index k = 0; k < s.p.layers; ++k) {
    const Index own = line(of.spread.view(), k, j), south = line(of.spread.view(), k, j - 1), north = line(of.spread.view(), k, j + 1);
    const double *z = origin(of.vorticity) + own, *zn = origin(of.vorticity) + north;
    const double *d = origin(of.spread) + own, *ds = origin(of.spread) + south;
    double *u = origin(to.u) + line(to.u.view(), k, j), *v = origin(to.v) + line(to.v.view(), k, j);
    in_vectors(
        begin, end, [&](Index i, auto put) __attribute__((always_inline)) {
          const V d0 = at(d + i), z0 = at(z + i);
          put(u + i, ((d0 - at(d + i - 1)) * rdx - (at(zn + i) - z0) * rdy) * at(open_u + i));
          put(v + i, ((d0 - at(ds + i)) * rdy + (at(z + i + 1) - z0) * rdx) * at(open_v + i));
        });
  }
}

// M of layers of such thickness: heights of surfaces from the bottom up, then M from the top down. The sea's own surface weighs `surface`,
// which is nothing where it is advanced apart from the layers.
template <class State, class Thickness, class To>
void pressures(State& s, Thickness& thickness, To& to, Index j, Index begin, Index end, double surface = gravity, Index strip = 0) {
  const auto& p = s.p;
  const auto h = thickness.view();
  const auto head = to.head.view();
  const double* bottom = &s.bottom.view()(0, j, 0);
  for (Index k = p.layers; k-- > 0;) {
    const double* below = k == p.layers - 1 ? bottom : &head(k + 1, j, 0);
    const double* hc = &h(k, j, 0) + strip;
    double* m = &head(k, j, 0);
    const double rest = p.rest(k);
    in_vectors(begin, end, [&](Index i, auto put) __attribute__((always_inline)) { put(m + i, at(below + i) + (at(hc + i) - rest)); });
  }
  for (Index k = 0; k < p.layers; ++k) {
    const double g = k == 0 ? surface : p.reduced(k);
    const double* above = k == 0 ? nullptr : &head(k - 1, j, 0);
    double* m = &head(k, j, 0);
    if (above == nullptr)
      in_vectors(begin, end, [&](Index i, auto put) __attribute__((always_inline)) { put(m + i, g * at(m + i)); });
    else
      in_vectors(begin, end, [&](Index i, auto put) __attribute__((always_inline)) { put(m + i, at(above + i) + g * at(m + i)); });
  }
}

// (zeta + f) v at western faces, of lines of q and of fluxes through southern faces, and of those north of them.
template <Form form>
[[gnu::always_inline]] inline V turned_u(const double* q, const double* qn, const double* fv, const double* fvn, Index i) {
  const V here = at(fv + i - 1) + at(fv + i), north = at(fvn + i - 1) + at(fvn + i);
  if constexpr (form == Form::energy) return 0.25 * (at(q + i) * here + at(qn + i) * north);
  return 0.125 * (at(q + i) + at(qn + i)) * (here + north);
}
// (zeta + f) u at southern faces, of a line of q and of fluxes through western faces, and of those south of them.
template <Form form>
[[gnu::always_inline]] inline V turned_v(const double* q, const double* fus, const double* fu, Index i) {
  const V here = at(fus + i) + at(fu + i), east = at(fus + i + 1) + at(fu + i + 1);
  if constexpr (form == Form::energy) return 0.25 * (at(q + i) * here + at(q + i + 1) * east);
  return 0.125 * (at(q + i) + at(q + i + 1)) * (here + east);
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

}  // namespace ocean
