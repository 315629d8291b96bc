// Thickness by flux-corrected transport: upwind fluxes of what was before, and as much of what centred fluxes of what is now have more as makes no
// new extreme (S. Zalesak, J. Comput. Phys. 31 (1979) 335). What layers together lose by that they get back, so that their sum carries what the
// sub-steps carried (MICOM, too, recovers it). The line j, cells or faces from `begin` to `end`.
#pragma once

#include <algorithm>

#include "surface.hpp"

namespace ocean_micom::inline FL_ROLE {

inline constexpr double never_all = 1 - 0x1p-40;  // of what a cell may lose, lest rounding make it less than nothing

// What of a layer of thickness h, whose lower end lies so deep, lies above the higher bottom.
inline double above(double h, double under, double sill) { return std::clamp(sill - (under - h), 0.0, h); }

// Upwind fluxes of what lies above the higher bottom, and what is missing in them. The mean over the depth of what carries is the mean flow of
// all sub-steps.
inline void carry(State& s, double share, Index j, Index begin, Index end) {
  Mean& m = s.mean;
  const double *su = line(m.sum_u, j), *sv = line(m.sum_v, j), *nu = line(m.now_u, j), *nv = line(m.now_v, j);
  const double *t = line(s.under_before, s.p.layers - 1, j), *ts = line(s.under_before, s.p.layers - 1, j - 1);
  for (Index k = 0; k < s.p.layers; ++k) {
    const double *u = line(s.now.u, k, j), *v = line(s.now.v, k, j), *hu = line(s.thick_u, k, j), *hv = line(s.thick_v, k, j);
    const double *b = line(s.before.h, k, j), *bs = line(s.before.h, k, j - 1);
    const double *e = line(s.under_before, k, j), *es = line(s.under_before, k, j - 1);
    double *fu = line(s.flux_u, k, j), *fv = line(s.flux_v, k, j), *au = line(s.added_u, k, j), *av = line(s.added_v, k, j);
    for (Index i = begin; i < end; ++i) {
      const double east = u[i] + (share * su[i] - nu[i]), north = v[i] + (share * sv[i] - nv[i]);
      const double sill_u = std::min(t[i - 1], t[i]), sill_v = std::min(ts[i], t[i]);
      fu[i] = east * (east > 0 ? above(b[i - 1], e[i - 1], sill_u) : above(b[i], e[i], sill_u));
      fv[i] = north * (north > 0 ? above(bs[i], es[i], sill_v) : above(b[i], e[i], sill_v));
      au[i] = east * hu[i] - fu[i];
      av[i] = north * hv[i] - fv[i];
    }
  }
}

template <class Ways>
void carried(State& s, double span, Index j, Index begin, Index end) {
  const double x = span / s.p.dx(), y = span / s.p.dy();
  for (Index k = 0; k < s.p.layers; ++k) {
    const double *fu = line(s.flux_u, k, j), *fv = line(s.flux_v, k, j), *fn = line(s.flux_v, k, j + 1), *b = line(s.before.h, k, j);
    double* h = line(s.carried, k, j);
    for (Index i = begin; i < end; ++i) h[i] = b[i] - (Ways::inside ? x : -x) * (fu[i + 1] - fu[i]) - y * (fn[i] - fv[i]);
  }
}

// Of what would be added and taken: what may be, by the thickest and the thinnest of the cell and its neighbours before and after.
inline void bound(State& s, double span, Index j, Index begin, Index end) {
  const double x = span / s.p.dx(), y = span / s.p.dy();
  const double *wet = line(s.wet, j), *wet_s = line(s.wet, j - 1), *wet_n = line(s.wet, j + 1);
  for (Index k = 0; k < s.p.layers; ++k) {
    const double *h = line(s.carried, k, j), *hs = line(s.carried, k, j - 1), *hn = line(s.carried, k, j + 1);
    const double *b = line(s.before.h, k, j), *bs = line(s.before.h, k, j - 1), *bn = line(s.before.h, k, j + 1);
    const double *au = line(s.added_u, k, j), *av = line(s.added_v, k, j), *an = line(s.added_v, k, j + 1);
    double *gain = line(s.gain, k, j), *loss = line(s.loss, k, j), *kept = line(s.kept, k, j);
    for (Index i = begin; i < end; ++i) {
      double most = std::max(h[i], b[i]), least = std::min(h[i], b[i]);
      const auto look = [&](double there, double after, double before) {
        most = std::max(most, there != 0 ? std::max(after, before) : most);
        least = std::min(least, there != 0 ? std::min(after, before) : least);
      };
      look(wet[i - 1], h[i - 1], b[i - 1]), look(wet[i + 1], h[i + 1], b[i + 1]);
      look(wet_s[i], hs[i], bs[i]), look(wet_n[i], hn[i], bn[i]);
      const double in = x * (std::max(au[i], 0.0) - std::min(au[i + 1], 0.0)) + y * (std::max(av[i], 0.0) - std::min(an[i], 0.0));
      const double out = x * (std::max(au[i + 1], 0.0) - std::min(au[i], 0.0)) + y * (std::max(an[i], 0.0) - std::min(av[i], 0.0));
      gain[i] = in > 0 ? std::min(1.0, (most - h[i]) * never_all / in) : 0;
      loss[i] = out > 0 ? std::min(1.0, (h[i] - least) * never_all / out) : 0;
      kept[i] = least;
    }
  }
}

// None of what is missing in upwind fluxes where these are all that is wanted.
inline void limit(State& s, Index j, Index begin, Index end) {
  double *ru = line(s.mean.rest_u, j), *rv = line(s.mean.rest_v, j);
  const double some = s.p.thickness == Thickness::fct ? 1 : 0;
  for (double* rest : {ru, rv}) std::fill(rest + begin, rest + end, 0.0);
  for (Index k = 0; k < s.p.layers; ++k) {
    const double *gain = line(s.gain, k, j), *loss = line(s.loss, k, j), *gs = line(s.gain, k, j - 1), *ls = line(s.loss, k, j - 1);
    double *au = line(s.added_u, k, j), *av = line(s.added_v, k, j);
    for (Index i = begin; i < end; ++i) {
      const double u = au[i], v = av[i];
      au[i] *= some * (u > 0 ? std::min(gain[i], loss[i - 1]) : std::min(gain[i - 1], loss[i]));
      av[i] *= some * (v > 0 ? std::min(gain[i], ls[i]) : std::min(gs[i], loss[i]));
      ru[i] += u - au[i], rv[i] += v - av[i];
    }
  }
}
// What that took of the layers together leaves a cell by what each layer has there in any case, and above the higher bottom.
inline void give_back(State& s, Index j, Index begin, Index end) {
  Mean& m = s.mean;
  const Index last = s.p.layers - 1;
  const double *t = line(s.under_before, last, j), *ts = line(s.under_before, last, j - 1);
  double *ru = line(m.rest_u, j), *rv = line(m.rest_v, j), *all_u = line(m.above_u, j), *all_v = line(m.above_v, j);
  for (double* all : {all_u, all_v}) std::fill(all + begin, all + end, 0.0);
  for (Index k = 0; k <= last; ++k) {
    const double *b = line(s.before.h, k, j), *bs = line(s.before.h, k, j - 1), *kept = line(s.kept, k, j), *ks = line(s.kept, k, j - 1);
    const double *e = line(s.under_before, k, j), *es = line(s.under_before, k, j - 1);
    double *pu = line(s.flux_u, k, j), *pv = line(s.flux_v, k, j);
    for (Index i = begin; i < end; ++i) {
      const double sill_u = std::min(t[i - 1], t[i]), sill_v = std::min(ts[i], t[i]);
      pu[i] = ru[i] > 0 ? std::min(kept[i - 1], above(b[i - 1], e[i - 1], sill_u)) : std::min(kept[i], above(b[i], e[i], sill_u));
      pv[i] = rv[i] > 0 ? std::min(ks[i], above(bs[i], es[i], sill_v)) : std::min(kept[i], above(b[i], e[i], sill_v));
      all_u[i] += pu[i], all_v[i] += pv[i];
    }
  }
  for (Index i = begin; i < end; ++i) ru[i] = all_u[i] > 0 ? ru[i] / all_u[i] : 0, rv[i] = all_v[i] > 0 ? rv[i] / all_v[i] : 0;
  for (Index k = 0; k <= last; ++k) {
    const double *pu = line(s.flux_u, k, j), *pv = line(s.flux_v, k, j);
    double *au = line(s.added_u, k, j), *av = line(s.added_v, k, j);
    for (Index i = begin; i < end; ++i) au[i] += ru[i] * pu[i], av[i] += rv[i] * pv[i];
  }
}

inline void add(State& s, double span, Index j, Index begin, Index end) {
  const double x = span / s.p.dx(), y = span / s.p.dy();
  for (Index k = 0; k < s.p.layers; ++k) {
    const double *au = line(s.added_u, k, j), *av = line(s.added_v, k, j), *an = line(s.added_v, k, j + 1), *c = line(s.carried, k, j);
    double* h = line(s.next.h, k, j);
    for (Index i = begin; i < end; ++i) h[i] = c[i] - x * (au[i + 1] - au[i]) - y * (an[i] - av[i]);
  }
}

}  // namespace ocean_micom::inline FL_ROLE
