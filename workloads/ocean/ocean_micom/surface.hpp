// What pushes layers and their mean, and the sub-steps of the surface: the line j, cells or faces from `begin` to `end`.
#pragma once

#include <algorithm>

#include "ocean_micom.hpp"

namespace ocean_micom::inline FL_ROLE {

// What a broken variant does otherwise.
struct Right {
  static constexpr bool four_point_average = true, kinetic = true, coasts = true;
  static constexpr bool limited = true;   // what is added to upwind fluxes
  static constexpr bool inside = true;    // upwind: what leaves a cell is what is in it
  static constexpr bool weighted = true;  // the mean push: by thickness
  static constexpr bool meant = true;     // the layers' slope: the mean of all sub-steps
  static constexpr bool asked = true;     // neighbours, for the surface between sub-steps
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
inline double* line(Plane& plane, Index j) { return &plane.view()(0, j, 0); }
inline double* line(grid::Field<double, 3>& field, Index k, Index j) { return &field.view()(k, j, 0); }

// A layer's share in what it has at a face.
inline double there(double h) { return std::min(1.0, h / thin); }
// What of a zone of such a depth lies in a layer of thickness h below `above` metres, by metre of the layer.
inline double in_zone(double above, double h, double zone) {
  return (std::min(above + h, zone) - std::min(above, zone)) / std::max(h, thin);
}

// Potential vorticity of corners that are much thinner than what is around them, where four fluxes are turned by both ends of a face: as of a
// corner of half the thickness of the thickest of sixteen cells (MICOM, too, takes a thickness of more cells).
inline void bound_vorticity(State& s, Index j, Index begin, Index end) {
  const double f = s.p.coriolis(s.block.owned.lower[1] + j);
  const double* count = line(s.corners, j);
  for (Index k = 0; k < s.p.layers; ++k) {
    const double *z = line(s.vorticity, k, j), *h = line(s.now.h, k, j);
    const Index pitch = s.now.h.view().stride[1];
    double* q = line(s.potential, k, j);
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
inline void stack(grid::Field<double, 3>& h, grid::Field<double, 3>& under, Index layers, Index j, Index begin, Index end) {
  std::copy(line(h, 0, j) + begin, line(h, 0, j) + end, line(under, 0, j) + begin);
  for (Index k = 1; k < layers; ++k) {
    const double *own = line(h, k, j), *above = line(under, k - 1, j);
    double* to = line(under, k, j);
    for (Index i = begin; i < end; ++i) to[i] = above[i] + own[i];
  }
}

// Thickness of layers at faces: between the means of their ends on both sides, cut off at the higher bottom. A layer that lies below a sill
// has none there (MICOM's dpu and dpv); were it half of what it is on the deep side, the mean flow would carry it up where no pressure works.
inline void cut(State& s, Index j, Index begin, Index end) {
  const Index last = s.p.layers - 1;
  const double *t = line(s.under, last, j), *ts = line(s.under, last, j - 1);
  double *du = line(s.mean.deep_u, j), *dv = line(s.mean.deep_v, j);
  for (Index i = begin; i < end; ++i) du[i] = std::min(t[i - 1], t[i]), dv[i] = std::min(ts[i], t[i]);
  for (Index k = 0; k < s.p.layers; ++k) {
    const double *e = line(s.under, k, j), *es = line(s.under, k, j - 1);
    double *hu = line(s.thick_u, k, j), *hv = line(s.thick_v, k, j);
    if (k == 0) {
      for (Index i = begin; i < end; ++i) hu[i] = std::min(du[i], 0.5 * (e[i - 1] + e[i])), hv[i] = std::min(dv[i], 0.5 * (es[i] + e[i]));
      continue;
    }
    const double *a = line(s.under, k - 1, j), *as = line(s.under, k - 1, j - 1);
    for (Index i = begin; i < end; ++i) {
      hu[i] = std::min(du[i], 0.5 * (e[i - 1] + e[i])) - std::min(du[i], 0.5 * (a[i - 1] + a[i]));
      hv[i] = std::min(dv[i], 0.5 * (es[i] + e[i])) - std::min(dv[i], 0.5 * (as[i] + a[i]));
    }
  }
}

// Mean flows over the depth, and the surface as sub-steps begin with it.
inline void average(State& s, Index j, Index begin, Index end) {
  Mean& m = s.mean;
  double *u = line(m.u, j), *v = line(m.v, j), *eta = line(m.eta, j);
  double *nu = line(m.now_u, j), *nv = line(m.now_v, j), *su = line(m.sum_u, j), *sv = line(m.sum_v, j);
  double *gu = line(m.slope_u, j), *gv = line(m.slope_v, j);
  for (double* mean : {u, v, nu, nv, su, sv, gu, gv}) std::fill(mean + begin, mean + end, 0.0);
  std::copy(line(s.bottom, j) + begin, line(s.bottom, j) + end, eta + begin);
  for (Index k = s.p.layers; k-- > 0;) {
    const double *hu = line(s.thick_u, k, j), *hv = line(s.thick_v, k, j), *hb = line(s.before.h, k, j);
    const double *ub = line(s.before.u, k, j), *vb = line(s.before.v, k, j), *un = line(s.now.u, k, j), *vn = line(s.now.v, k, j);
    const double rest = s.p.rest(k);
    for (Index i = begin; i < end; ++i) {
      u[i] += hu[i] * ub[i], nu[i] += hu[i] * un[i];
      v[i] += hv[i] * vb[i], nv[i] += hv[i] * vn[i];
      eta[i] += hb[i] - rest;
    }
  }
  const double *du = line(m.deep_u, j), *dv = line(m.deep_v, j), *open_u = line(s.face_u, j), *open_v = line(s.face_v, j);
  for (Index i = begin; i < end; ++i) {  // no water: no flow
    const double ru = open_u[i] / (du[i] + (1 - open_u[i])), rv = open_v[i] / (dv[i] + (1 - open_v[i]));
    u[i] *= ru, nu[i] *= ru, v[i] *= rv, nv[i] *= rv;
  }
}

// The layers' next flow but for the surface's slope, and the mean of what pushes them.
template <Form form, class Ways>
void push(State& s, double span, Index j, Index begin, Index end) {
  const Params& p = s.p;
  Mean& mean = s.mean;
  const double rdx = 1 / p.dx(), rdy = 1 / p.dy(), a = viscosity(p), b = biharmonic(p), r = drag(p), zone = p.dragged_depth();
  const double wind = ocean::stress_at(p, s.block.owned.lower[1] + j, s.wind) / (ocean::density * stirred);
  const double *open_u = line(s.face_u, j), *open_v = line(s.face_v, j), *deep_u = line(mean.deep_u, j), *deep_v = line(mean.deep_v, j);
  double *pu = line(mean.push_u, j), *pv = line(mean.push_v, j), *au = line(mean.above_u, j), *av = line(mean.above_v, j);
  for (double* x : {pu, pv, au, av}) std::fill(x + begin, x + end, 0.0);
  for (Index k = 0; k < p.layers; ++k) {
    const double *fu = line(s.flux_u, k, j), *fus = line(s.flux_u, k, j - 1), *fv = line(s.flux_v, k, j), *fvn = line(s.flux_v, k, j + 1);
    const double *q = line(s.potential, k, j), *qn = line(s.potential, k, j + 1), *m = line(s.head, k, j), *ms = line(s.head, k, j - 1);
    const double *h = line(s.now.h, k, j), *hs = line(s.now.h, k, j - 1), *u = line(s.before.u, k, j), *v = line(s.before.v, k, j);
    const double *bu = line(s.bent.u, k, j), *bv = line(s.bent.v, k, j), *hu = line(s.thick_u, k, j), *hv = line(s.thick_v, k, j);
    const double *z = line(s.vorticity, k, j), *zn = line(s.vorticity, k, j + 1), *d = line(s.spread, k, j), *ds = line(s.spread, k, j - 1);
    double *u1 = line(s.next.u, k, j), *v1 = line(s.next.v, k, j);
    for (Index i = begin; i < end; ++i) {
      double turn_u = ocean::turned_u<form>(q, qn, fv, fvn, i);
      if constexpr (!Ways::four_point_average) turn_u = 0.5 * (q[i] + qn[i]) * fv[i];
      const double turn_v = ocean::turned_v<form>(q, fus, fu, i), at_u = hu[i], at_v = hv[i];
      // What is not there does not push: the higher of two heads counts by what stands at it.
      const double east = m[i] - m[i - 1], north = m[i] - ms[i];
      const double slope_u = east * rdx * there(east > 0 ? h[i] : h[i - 1]), slope_v = north * rdy * there(north > 0 ? h[i] : hs[i]);
      const double bent_u = (d[i] - d[i - 1]) * rdx - (zn[i] - z[i]) * rdy, bent_v = (d[i] - ds[i]) * rdy + (z[i + 1] - z[i]) * rdx;
      const double below_u = std::max(deep_u[i] - au[i] - at_u, 0.0), below_v = std::max(deep_v[i] - av[i] - at_v, 0.0);
      const double rub_u = a * bu[i] - b * bent_u - r * in_zone(below_u, at_u, zone) * u[i];
      const double rub_v = a * bv[i] - b * bent_v - r * in_zone(below_v, at_v, zone) * v[i];
      const double du = (turn_u - slope_u + rub_u + wind * in_zone(au[i], at_u, stirred)) * (Ways::coasts ? open_u[i] : 1);
      const double dv = (-turn_v - slope_v + rub_v) * (Ways::coasts ? open_v[i] : 1);
      u1[i] = u[i] + span * du, v1[i] = v[i] + span * dv;
      pu[i] += (Ways::weighted ? at_u : deep_u[i] / static_cast<double>(p.layers)) * du, pv[i] += at_v * dv;
      au[i] += at_u, av[i] += at_v;
    }
  }
  for (Index i = begin; i < end; ++i)
    pu[i] *= open_u[i] / (deep_u[i] + (1 - open_u[i])), pv[i] *= open_v[i] / (deep_v[i] + (1 - open_v[i]));
}

// A sub-step: the surface follows the mean flow,
inline void rise(State& s, double dt, Index j, Index begin, Index end) {
  Mean& m = s.mean;
  const double x = dt / s.p.dx(), y = dt / s.p.dy();
  const double *du = line(m.deep_u, j), *dv = line(m.deep_v, j), *dn = line(m.deep_v, j + 1);
  const double *u = line(m.u, j), *v = line(m.v, j), *vn = line(m.v, j + 1);
  double *eta = line(m.eta, j), *ahead = line(m.ahead, j);
  for (Index i = begin; i < end; ++i) {
    const double change = x * (du[i + 1] * u[i + 1] - du[i] * u[i]) + y * (dn[i] * vn[i] - dv[i] * v[i]);
    eta[i] -= change;
    ahead[i] = eta[i] - leap * change;
  }
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
  for (Index i = begin; i < end; ++i) {
    su[i] += u[i], sv[i] += v[i];
    const double slope_u = x * (eta[i] - eta[i - 1]) * open_u[i], slope_v = y * (eta[i] - es[i]) * open_v[i];
    gu[i] = kept * gu[i] + more * slope_u, gv[i] = kept * gv[i] + more * slope_v;
    u[i] += dt * (pu[i] - slope_u), v[i] += dt * (pv[i] - slope_v);
  }
}

// The layers' next flow. What a thin layer lacks moves as the one above does.
template <class Ways>
void settle(State& s, double dt, Index j, Index begin, Index end) {
  const double *gu = line(s.mean.slope_u, j), *gv = line(s.mean.slope_v, j);
  for (Index k = 0; k < s.p.layers; ++k) {
    const double *hu = line(s.thick_u, k, j), *hv = line(s.thick_v, k, j);
    double *u = line(s.next.u, k, j), *v = line(s.next.v, k, j);
    for (Index i = begin; i < end; ++i) u[i] -= dt * gu[i], v[i] -= dt * gv[i];
    if (k == 0) continue;
    const double *above_u = line(s.next.u, k - 1, j), *above_v = line(s.next.v, k - 1, j);
    for (Index i = begin; i < end; ++i) {
      const double at_u = there(hu[i]), at_v = there(hv[i]);
      u[i] = at_u * u[i] + (1 - at_u) * above_u[i], v[i] = at_v * v[i] + (1 - at_v) * above_v[i];
    }
  }
}

}  // namespace ocean_micom::inline FL_ROLE
