// What pushes layers and their mean, and the sub-steps of the surface: the line j, cells or faces from `begin` to `end`.
#pragma once

#include <algorithm>
#include <array>

#include "../bands.hpp"
#include "../vectors.hpp"
#include "ocean_micom.hpp"

namespace ocean_micom {

using ocean::Band, ocean::Ring, ocean::Strip;

// What follows from a flow, and from the thickness of its layers, for as long as lines to the north need it: four lines, of so many columns
// that they stay in the second cache.

// Vorticity and divergence.
struct Curved {
  Ring vorticity, spread;
};

// On the way to the layers' next flow.
struct Following : ocean::Lines {
  Curved once, twice;  // of the flow before, and of its lap
  struct {
    Ring u, v;
  } bent;                 // that lap
  Ring under;             // depth of the lower end of each layer, below the surface
  Ring thick_u, thick_v;  // of layers at faces
  Ring above_u, above_v;  // of those above the one that is looked at
  std::array<Ring*, 15> layered() {
    return {&flux_u,          &flux_v,       &potential, &head,   &vorticity, &spread,  &once.vorticity, &once.spread,
            &twice.vorticity, &twice.spread, &bent.u,    &bent.v, &under,     &thick_u, &thick_v};
  }
  std::array<Ring*, 2> flat() { return {&above_u, &above_v}; }
};

// On the way to their next thickness.
struct Carrying {
  Ring under;             // ... before
  Ring flux_u, flux_v;    // upwind
  Ring added_u, added_v;  // what centred fluxes have more
  Ring carried;           // thickness after upwind fluxes
  Ring gain, loss;        // of what would be added to a cell, and taken, what may be
  Ring kept;              // what is left of a cell in any case
  Ring rest_u, rest_v;    // what layers together do not carry of the mean flow
  Ring above_u, above_v;  // what all of them could
  std::array<Ring*, 9> layered() { return {&under, &flux_u, &flux_v, &added_u, &added_v, &carried, &gain, &loss, &kept}; }
  std::array<Ring*, 4> flat() { return {&rest_u, &rest_v, &above_u, &above_v}; }
};

using ocean::all, ocean::at, ocean::in_vectors, ocean::larger, ocean::smaller, ocean::V;

// What a broken variant does otherwise.
struct Right {
  static constexpr bool four_point_average = true, kinetic = true, coasts = true;
  static constexpr bool limited = true;    // what is added to upwind fluxes
  static constexpr bool inside = true;     // upwind: what leaves a cell is what is in it
  static constexpr bool weighted = true;   // the mean push: by thickness
  static constexpr bool meant = true;      // the layers' slope: the mean of all sub-steps
  static constexpr bool exchanged = true;  // neighbours, for the surface between sub-steps
};

// Boxes of a block that are wider by so many cells, and those of western and southern faces around them.
class Around {
 public:
  explicit Around(const grid::Block<3>& block) : lower_{0, 0}, upper_{block.size()[1], block.size()[2]} {}
  grid::Box<2> cells(Index by) const { return grid::Box<2>{lower_, upper_}.grown({by, by}); }
  grid::Box<2> faces(Index by) const {
    grid::Box<2> box = cells(by);
    return {box.lower, {box.upper[0] + 1, box.upper[1] + 1}};
  }

 private:
  grid::Point<2> lower_, upper_;
};

// Lines of fields.
[[gnu::always_inline]] inline double* line(Ring& ring, Index k, Index j) { return &ring.view()(k, j, 0); }
[[gnu::always_inline]] inline double* line(Plane& plane, Index j) { return &plane.view()(0, j, 0); }
[[gnu::always_inline]] inline double* line(grid::Field<double, 3>& field, Index k, Index j) { return &field.view()(k, j, 0); }

// A layer's share in what it has at a face.
inline V there(const V& h) { return smaller(h / thin, 1); }
// What of a zone of such a depth is in a layer of thickness h below `above` metres, by metre of the layer.
inline V in_zone(const V& above, const V& h, double zone) { return (smaller(above + h, zone) - smaller(above, zone)) / larger(h, thin); }

// Potential vorticity of corners that are much thinner than what is around them, where four fluxes are turned by both ends of a face: as of a
// corner of half the thickness of the thickest of sixteen cells (MICOM, too, takes a thickness of more cells).
inline void bound_vorticity(State& s, Following& of, Index j, Index begin, Index end) {
  const double f = s.p.coriolis(s.block.owned.lower[1] + j);
  const double* count = line(s.corners, j);
  for (Index k = 0; k < s.p.layers; ++k) {
    const double *z = line(of.vorticity, k, j), *h = line(s.now.h, k, j);
    const Index pitch = s.now.h.view().stride[1];
    double* q = line(of.potential, k, j);
    for (Index i = begin; i < end; ++i) {
      double most = 0;
      for (Index y = -2; y < 2; ++y)
        for (Index x = -2; x < 2; ++x) most = std::max(most, h[i + y * pitch + x]);
      const double around = (h[i - 1] + h[i]) + (h[i - 1 - pitch] + h[i - pitch]);
      q[i] = (z[i] + f) * count[i] / std::max({around, count[i] * (0.5 * most), ocean::no_water});
    }
  }
}

// Depth of the lower end of each layer.
template <class Under>
void stack(grid::Field<double, 3>& h, Under& under, Index layers, Index j, Index begin, Index end) {
  std::copy(line(h, 0, j) + begin, line(h, 0, j) + end, line(under, 0, j) + begin);
  for (Index k = 1; k < layers; ++k) {
    const double *own = line(h, k, j), *above = line(under, k - 1, j);
    double* to = line(under, k, j);
    in_vectors(begin, end, [&](Index i, auto put) __attribute__((always_inline)) { put(to + i, at(above + i) + at(own + i)); });
  }
}

// Thickness of layers at faces: between the means of their ends on both sides, cut off at the higher bottom. A layer that is below a sill
// has none there (MICOM's dpu and dpv); were it half of what it is on the deep side, the mean flow would carry it up where no pressure works.
inline void cut(State& s, Following& of, Index j, Index begin, Index end, bool past) {
  const Index last = s.p.layers - 1;
  const double *t = line(of.under, last, j), *ts = line(of.under, last, j - 1);
  double *du = line(s.mean.deep_u, j), *dv = line(s.mean.deep_v, j);
  in_vectors(
      begin, end, [&](Index i, auto put) __attribute__((always_inline)) {
        const V here = at(t + i);
        put(du + i, smaller(at(t + i - 1), here)), put(dv + i, smaller(at(ts + i), here));
      });
  for (Index k = 0; k < s.p.layers; ++k) {
    const double *e = line(of.under, k, j), *es = line(of.under, k, j - 1);
    double *hu = line(s.thick_u, k, j), *hv = line(s.thick_v, k, j), *near_u = line(of.thick_u, k, j), *near_v = line(of.thick_v, k, j);
    const auto thick = [&](Index i, const V& u, const V& v, auto put) __attribute__((always_inline)) {
      put(near_u + i, u), put(near_v + i, v), put(hu + i, u, past), put(hv + i, v, past);
    };
    if (k == 0) {
      in_vectors(
          begin, end, [&](Index i, auto put) __attribute__((always_inline)) {
            const V here = at(e + i);
            thick(i, smaller(at(du + i), 0.5 * (at(e + i - 1) + here)), smaller(at(dv + i), 0.5 * (at(es + i) + here)), put);
          });
      continue;
    }
    const double *a = line(of.under, k - 1, j), *as = line(of.under, k - 1, j - 1);
    in_vectors(
        begin, end, [&](Index i, auto put) __attribute__((always_inline)) {
          const V here = at(e + i), above = at(a + i), deep_u = at(du + i), deep_v = at(dv + i);
          thick(i, smaller(deep_u, 0.5 * (at(e + i - 1) + here)) - smaller(deep_u, 0.5 * (at(a + i - 1) + above)),
                smaller(deep_v, 0.5 * (at(es + i) + here)) - smaller(deep_v, 0.5 * (at(as + i) + above)), put);
        });
  }
}

// One over the depth of a face that is open, else nothing.
[[gnu::always_inline]] inline V per_depth(const double* open, const double* deep, Index i) {
  return at(open + i) / (at(deep + i) + (1 - at(open + i)));
}

// Mean flows over the depth, and the surface as sub-steps begin with it.
inline void average(State& s, Following& of, Index j, Index begin, Index end) {
  Mean& m = s.mean;
  double *u = line(m.u, j), *v = line(m.v, j), *eta = line(m.eta, j);
  double *nu = line(m.now_u, j), *nv = line(m.now_v, j), *su = line(m.sum_u, j), *sv = line(m.sum_v, j);
  double *gu = line(m.slope_u, j), *gv = line(m.slope_v, j);
  for (double* mean : {u, v, nu, nv, su, sv, gu, gv}) std::fill(mean + begin, mean + end, 0.0);
  std::copy(line(s.bottom, j) + begin, line(s.bottom, j) + end, eta + begin);
  for (Index k = s.p.layers; k-- > 0;) {
    const double *hu = line(of.thick_u, k, j), *hv = line(of.thick_v, k, j), *hb = line(s.before.h, k, j);
    const double *ub = line(s.before.u, k, j), *vb = line(s.before.v, k, j), *un = line(s.now.u, k, j), *vn = line(s.now.v, k, j);
    const double rest = s.p.rest(k);
    in_vectors(
        begin, end, [&](Index i, auto put) __attribute__((always_inline)) {
          const V at_u = at(hu + i), at_v = at(hv + i);
          put(u + i, at(u + i) + at_u * at(ub + i)), put(nu + i, at(nu + i) + at_u * at(un + i));
          put(v + i, at(v + i) + at_v * at(vb + i)), put(nv + i, at(nv + i) + at_v * at(vn + i));
          put(eta + i, at(eta + i) + (at(hb + i) - rest));
        });
  }
  const double *du = line(m.deep_u, j), *dv = line(m.deep_v, j), *open_u = line(s.face_u, j), *open_v = line(s.face_v, j);
  in_vectors(
      begin, end, [&](Index i, auto put) __attribute__((always_inline)) {  // no water: no flow
        const V ru = per_depth(open_u, du, i), rv = per_depth(open_v, dv, i);
        put(u + i, at(u + i) * ru), put(nu + i, at(nu + i) * ru), put(v + i, at(v + i) * rv), put(nv + i, at(nv + i) * rv);
      });
}

// The layers' next flow except for the surface's slope, and the mean of what pushes them.
template <Form form, class Ways>
void push(State& s, Following& of, double span, Index j, Index begin, Index end, bool past) {
  const Params& p = s.p;
  Mean& mean = s.mean;
  const double rdx = 1 / p.dx(), rdy = 1 / p.dy(), a = viscosity(p), b = biharmonic(p), r = drag(p), zone = p.dragged_depth();
  const double wind = ocean::stress_at(p, s.block.owned.lower[1] + j, s.wind) / (ocean::density * stirred);
  const double *open_u = line(s.face_u, j), *open_v = line(s.face_v, j), *deep_u = line(mean.deep_u, j), *deep_v = line(mean.deep_v, j);
  double *pu = line(mean.push_u, j), *pv = line(mean.push_v, j), *au = line(of.above_u, 0, j), *av = line(of.above_v, 0, j);
  Curved& curved = b > 0 ? of.twice : of.once;
  for (double* x : {pu, pv, au, av}) std::fill(x + begin, x + end, 0.0);
  for (Index k = 0; k < p.layers; ++k) {
    const double *fu = line(of.flux_u, k, j), *fus = line(of.flux_u, k, j - 1), *fv = line(of.flux_v, k, j),
                 *fvn = line(of.flux_v, k, j + 1);
    const double *q = line(of.potential, k, j), *qn = line(of.potential, k, j + 1), *m = line(of.head, k, j), *ms = line(of.head, k, j - 1);
    const double *h = line(s.now.h, k, j), *hs = line(s.now.h, k, j - 1), *u = line(s.before.u, k, j), *v = line(s.before.v, k, j);
    const double *bu = line(of.bent.u, k, j), *bv = line(of.bent.v, k, j), *hu = line(of.thick_u, k, j), *hv = line(of.thick_v, k, j);
    const double *z = line(curved.vorticity, k, j), *zn = line(curved.vorticity, k, j + 1), *d = line(curved.spread, k, j),
                 *ds = line(curved.spread, k, j - 1);
    double *u1 = line(s.next.u, k, j), *v1 = line(s.next.v, k, j);
    ocean::in_vectors(
        begin, end, [&](Index i, auto put) __attribute__((always_inline)) {
          V turn_u = ocean::turned_u<form>(q, qn, fv, fvn, i);
          if constexpr (!Ways::four_point_average) turn_u = 0.5 * (at(q + i) + at(qn + i)) * at(fv + i);
          const V turn_v = ocean::turned_v<form>(q, fus, fu, i), at_u = at(hu + i), at_v = at(hv + i), u_before = at(u + i),
                  v_before = at(v + i);
          const V above_u = at(au + i), above_v = at(av + i), coast_u = at(open_u + i), coast_v = at(open_v + i);
          const V depth_u = at(deep_u + i), depth_v = at(deep_v + i), m_here = at(m + i), h_here = at(h + i), d_here = at(d + i),
                  z_here = at(z + i);
          // What is not there does not push: the higher of two heads counts by what is at it.
          const V east = m_here - at(m + i - 1), north = m_here - at(ms + i);
          const V slope_u = east * rdx * there(east > 0 ? h_here : at(h + i - 1)),
                  slope_v = north * rdy * there(north > 0 ? h_here : at(hs + i));
          const V bent_u = (d_here - at(d + i - 1)) * rdx - (at(zn + i) - z_here) * rdy;
          const V bent_v = (d_here - at(ds + i)) * rdy + (at(z + i + 1) - z_here) * rdx;
          const V below_u = larger(depth_u - above_u - at_u, 0), below_v = larger(depth_v - above_v - at_v, 0);
          const V rub_u = a * at(bu + i) - b * bent_u - r * in_zone(below_u, at_u, zone) * u_before;
          const V rub_v = a * at(bv + i) - b * bent_v - r * in_zone(below_v, at_v, zone) * v_before;
          const V du = (turn_u - slope_u + rub_u + wind * in_zone(above_u, at_u, stirred)) * (Ways::coasts ? coast_u : all(1));
          const V dv = (-turn_v - slope_v + rub_v) * (Ways::coasts ? coast_v : all(1));
          put(u1 + i, u_before + span * du, past), put(v1 + i, v_before + span * dv, past);
          put(pu + i, at(pu + i) + (Ways::weighted ? at_u : depth_u / static_cast<double>(p.layers)) * du),
              put(pv + i, at(pv + i) + at_v * dv);
          put(au + i, above_u + at_u), put(av + i, above_v + at_v);
        });
  }
  in_vectors(
      begin, end, [&](Index i, auto put) __attribute__((always_inline)) {
        put(pu + i, at(pu + i) * per_depth(open_u, deep_u, i)), put(pv + i, at(pv + i) * per_depth(open_v, deep_v, i));
      });
}

// A sub-step: the surface follows the mean flow,
inline void rise(State& s, double dt, Index j, Index begin, Index end) {
  Mean& m = s.mean;
  const double x = dt / s.p.dx(), y = dt / s.p.dy();
  const double *du = line(m.deep_u, j), *dv = line(m.deep_v, j), *dn = line(m.deep_v, j + 1);
  const double *u = line(m.u, j), *v = line(m.v, j), *vn = line(m.v, j + 1);
  double *eta = line(m.eta, j), *ahead = line(m.ahead, j);
  in_vectors(
      begin, end, [&](Index i, auto put) __attribute__((always_inline)) {
        const V east = at(du + i + 1) * at(u + i + 1), west = at(du + i) * at(u + i), north = at(dn + i) * at(vn + i),
                south = at(dv + i) * at(v + i);
        const V change = x * (east - west) + y * (north - south), height = at(eta + i) - change;
        put(eta + i, height), put(ahead + i, height - leap * change);
      });
}
// and the mean flow the surface.
template <class Ways>
void slide(State& s, double dt, Index number, Index j, Index begin, Index end) {
  Mean& m = s.mean;
  const double x = gravity / s.p.dx(), y = gravity / s.p.dy();
  const double *eta = line(m.ahead, j), *es = line(m.ahead, j - 1), *open_u = line(s.face_u, j), *open_v = line(s.face_v, j);
  const double *pu = line(m.push_u, j), *pv = line(m.push_v, j);
  double *u = line(m.u, j), *v = line(m.v, j), *su = line(m.sum_u, j), *sv = line(m.sum_v, j);
  double *gu = line(m.slope_u, j), *gv = line(m.slope_v, j);
  const double kept = Ways::meant ? 1 : 0, more = Ways::meant ? 1 : static_cast<double>(number + 1);
  in_vectors(
      begin, end, [&](Index i, auto put) __attribute__((always_inline)) {
        const V here = at(eta + i), u_now = at(u + i), v_now = at(v + i);
        const V slope_u = x * (here - at(eta + i - 1)) * at(open_u + i), slope_v = y * (here - at(es + i)) * at(open_v + i);
        put(su + i, at(su + i) + u_now), put(sv + i, at(sv + i) + v_now);
        put(gu + i, kept * at(gu + i) + more * slope_u), put(gv + i, kept * at(gv + i) + more * slope_v);
        put(u + i, u_now + dt * (at(pu + i) - slope_u)), put(v + i, v_now + dt * (at(pv + i) - slope_v));
      });
}

// The layers' next flow. What a thin layer lacks moves as the one above does.
template <class Ways>
void settle(State& s, double dt, Index j, Index begin, Index end) {
  const double *gu = line(s.mean.slope_u, j), *gv = line(s.mean.slope_v, j);
  for (Index k = 0; k < s.p.layers; ++k) {
    const double *hu = line(s.thick_u, k, j), *hv = line(s.thick_v, k, j);
    double *u = line(s.next.u, k, j), *v = line(s.next.v, k, j);
    const double *above_u = line(s.next.u, std::max<Index>(k - 1, 0), j), *above_v = line(s.next.v, std::max<Index>(k - 1, 0), j);
    in_vectors(
        begin, end, [&](Index i, auto put) __attribute__((always_inline)) {
          const V own_u = at(u + i) - dt * at(gu + i), own_v = at(v + i) - dt * at(gv + i);
          if (k == 0) return put(u + i, own_u), put(v + i, own_v);
          const V at_u = there(at(hu + i)), at_v = there(at(hv + i));
          put(u + i, at_u * own_u + (1 - at_u) * at(above_u + i)), put(v + i, at_v * own_v + (1 - at_v) * at(above_v + i));
        });
  }
}

}  // namespace ocean_micom
