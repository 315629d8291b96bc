// Thickness by flux-corrected transport: upwind fluxes of what was before, and as much of what centred fluxes of what is now have more as makes no
// new extreme (S. Zalesak, J. Comput. Phys. 31 (1979) 335). What layers together lose by that they get back, so that their sum carries what the
// sub-steps carried (MICOM, too, recovers it). The line j, cells or faces from `begin` to `end`.
#pragma once

#include <algorithm>

#include "surface.hpp"

namespace ocean_micom {

inline constexpr double never_all = 1 - 0x1p-40;  // of what a cell may lose, lest rounding make it less than nothing

// What of a layer of thickness h, whose lower end is so deep, is above the higher bottom.
[[gnu::always_inline]] inline V above(const V& h, const V& under, const V& sill) { return smaller(larger(sill - (under - h), 0), h); }

// Upwind fluxes of what is above the higher bottom, and what is missing in them. The mean over the depth of what carries is the mean flow of
// all sub-steps.
inline void carry(State& s, Carrying& of, double share, Index j, Index begin, Index end, bool fetch) {
  Mean& m = s.mean;
  const double *su = line(m.sum_u, j), *sv = line(m.sum_v, j), *nu = line(m.now_u, j), *nv = line(m.now_v, j);
  const double *t = line(of.under, s.p.layers - 1, j), *ts = line(of.under, s.p.layers - 1, j - 1);
  const Index pitch = s.now.h.view().stride[1];
  for (Index k = 0; k < s.p.layers; ++k) {
    const double *u = line(s.now.u, k, j), *v = line(s.now.v, k, j), *hu = line(s.thick_u, k, j), *hv = line(s.thick_v, k, j);
    const double *b = line(s.before.h, k, j), *bs = line(s.before.h, k, j - 1);
    const double *e = line(of.under, k, j), *es = line(of.under, k, j - 1);
    double *fu = line(of.flux_u, k, j), *fv = line(of.flux_v, k, j), *au = line(of.added_u, k, j), *av = line(of.added_v, k, j);
    in_vectors(
        begin, end, [&](Index i, auto put) __attribute__((always_inline)) {
          if (fetch) ocean::fetch_later(u + pitch + i, v + pitch + i, hu + pitch + i, hv + pitch + i, b + pitch + i);
          const V east = at(u + i) + (share * at(su + i) - at(nu + i)), north = at(v + i) + (share * at(sv + i) - at(nv + i));
          const V deep = at(t + i), thick = at(b + i), under = at(e + i);
          const V sill_u = smaller(at(t + i - 1), deep), sill_v = smaller(at(ts + i), deep);
          const V west_u = above(at(b + i - 1), at(e + i - 1), sill_u), south_v = above(at(bs + i), at(es + i), sill_v);
          const V flux_u = east * (east > 0 ? west_u : above(thick, under, sill_u));
          const V flux_v = north * (north > 0 ? south_v : above(thick, under, sill_v));
          put(fu + i, flux_u), put(fv + i, flux_v);
          put(au + i, east * at(hu + i) - flux_u), put(av + i, north * at(hv + i) - flux_v);
        });
  }
}

template <class Ways>
void carried(State& s, Carrying& of, double span, Index j, Index begin, Index end) {
  const double x = span / s.p.dx(), y = span / s.p.dy();
  for (Index k = 0; k < s.p.layers; ++k) {
    const double *fu = line(of.flux_u, k, j), *fv = line(of.flux_v, k, j), *fn = line(of.flux_v, k, j + 1), *b = line(s.before.h, k, j);
    double* h = line(of.carried, k, j);
    in_vectors(
        begin, end, [&](Index i, auto put) __attribute__((always_inline)) {
          put(h + i, at(b + i) - (Ways::inside ? x : -x) * (at(fu + i + 1) - at(fu + i)) - y * (at(fn + i) - at(fv + i)));
        });
  }
}

// Computes the share of what would be added and taken that is allowed, by the thickest and the thinnest of the cell and its neighbours
// before and after.
inline void bound(State& s, Carrying& of, double span, Index j, Index begin, Index end) {
  const double x = span / s.p.dx(), y = span / s.p.dy();
  const double *wet = line(s.wet, j), *wet_s = line(s.wet, j - 1), *wet_n = line(s.wet, j + 1);
  for (Index k = 0; k < s.p.layers; ++k) {
    const double *h = line(of.carried, k, j), *hs = line(of.carried, k, j - 1), *hn = line(of.carried, k, j + 1);
    const double *b = line(s.before.h, k, j), *bs = line(s.before.h, k, j - 1), *bn = line(s.before.h, k, j + 1);
    const double *au = line(of.added_u, k, j), *av = line(of.added_v, k, j), *an = line(of.added_v, k, j + 1);
    double *gain = line(of.gain, k, j), *loss = line(of.loss, k, j), *kept = line(of.kept, k, j);
    in_vectors(
        begin, end, [&](Index i, auto put) __attribute__((always_inline)) {
          const V here = at(h + i);
          V most = larger(here, at(b + i)), least = smaller(here, at(b + i));
          const auto look = [&](const V& there, const V& after, const V& before) __attribute__((always_inline)) {
            most = there != 0 ? larger(most, larger(after, before)) : most;
            least = there != 0 ? smaller(least, smaller(after, before)) : least;
          };
          look(at(wet + i - 1), at(h + i - 1), at(b + i - 1)), look(at(wet + i + 1), at(h + i + 1), at(b + i + 1));
          look(at(wet_s + i), at(hs + i), at(bs + i)), look(at(wet_n + i), at(hn + i), at(bn + i));
          const V west = at(au + i), east = at(au + i + 1), south = at(av + i), north = at(an + i);
          const V in = x * (larger(west, 0) - smaller(east, 0)) + y * (larger(south, 0) - smaller(north, 0));
          const V out = x * (larger(east, 0) - smaller(west, 0)) + y * (larger(north, 0) - smaller(south, 0));
          put(gain + i, in > 0 ? smaller((most - here) * never_all / in, 1) : all(0));
          put(loss + i, out > 0 ? smaller((here - least) * never_all / out, 1) : all(0));
          put(kept + i, least);
        });
  }
}

// None of what is missing in upwind fluxes where these are all that is wanted.
inline void limit(State& s, Carrying& of, Index j, Index begin, Index end) {
  double *ru = line(of.rest_u, 0, j), *rv = line(of.rest_v, 0, j);
  const double some = s.p.thickness == Thickness::fct ? 1 : 0;
  for (double* rest : {ru, rv}) std::fill(rest + begin, rest + end, 0.0);
  for (Index k = 0; k < s.p.layers; ++k) {
    const double *gain = line(of.gain, k, j), *loss = line(of.loss, k, j), *gs = line(of.gain, k, j - 1), *ls = line(of.loss, k, j - 1);
    double *au = line(of.added_u, k, j), *av = line(of.added_v, k, j);
    in_vectors(
        begin, end, [&](Index i, auto put) __attribute__((always_inline)) {
          const V u = at(au + i), v = at(av + i), more = at(gain + i), less = at(loss + i);
          const V u_kept = u * (some * (u > 0 ? smaller(more, at(loss + i - 1)) : smaller(at(gain + i - 1), less)));
          const V v_kept = v * (some * (v > 0 ? smaller(more, at(ls + i)) : smaller(at(gs + i), less)));
          put(au + i, u_kept), put(av + i, v_kept), put(ru + i, at(ru + i) + (u - u_kept)), put(rv + i, at(rv + i) + (v - v_kept));
        });
  }
}
// What that took of the layers together leaves a cell by what each layer has there in any case, and above the higher bottom.
inline void give_back(State& s, Carrying& of, Index j, Index begin, Index end) {
  const Index last = s.p.layers - 1;
  const double *t = line(of.under, last, j), *ts = line(of.under, last, j - 1);
  double *ru = line(of.rest_u, 0, j), *rv = line(of.rest_v, 0, j), *all_u = line(of.above_u, 0, j), *all_v = line(of.above_v, 0, j);
  for (double* all : {all_u, all_v}) std::fill(all + begin, all + end, 0.0);
  for (Index k = 0; k <= last; ++k) {
    const double *b = line(s.before.h, k, j), *bs = line(s.before.h, k, j - 1), *kept = line(of.kept, k, j), *ks = line(of.kept, k, j - 1);
    const double *e = line(of.under, k, j), *es = line(of.under, k, j - 1);
    double *pu = line(of.flux_u, k, j), *pv = line(of.flux_v, k, j);
    in_vectors(
        begin, end, [&](Index i, auto put) __attribute__((always_inline)) {
          const V deep = at(t + i), thick = at(b + i), under = at(e + i), left = at(kept + i);
          const V sill_u = smaller(at(t + i - 1), deep), sill_v = smaller(at(ts + i), deep);
          const V west_u = smaller(at(kept + i - 1), above(at(b + i - 1), at(e + i - 1), sill_u));
          const V south_v = smaller(at(ks + i), above(at(bs + i), at(es + i), sill_v));
          const V gives_u = at(ru + i) > 0 ? west_u : smaller(left, above(thick, under, sill_u));
          const V gives_v = at(rv + i) > 0 ? south_v : smaller(left, above(thick, under, sill_v));
          put(pu + i, gives_u), put(pv + i, gives_v), put(all_u + i, at(all_u + i) + gives_u), put(all_v + i, at(all_v + i) + gives_v);
        });
  }
  in_vectors(
      begin, end, [&](Index i, auto put) __attribute__((always_inline)) {
        const V u = at(all_u + i), v = at(all_v + i);
        put(ru + i, u > 0 ? at(ru + i) / u : all(0)), put(rv + i, v > 0 ? at(rv + i) / v : all(0));
      });
  for (Index k = 0; k <= last; ++k) {
    const double *pu = line(of.flux_u, k, j), *pv = line(of.flux_v, k, j);
    double *au = line(of.added_u, k, j), *av = line(of.added_v, k, j);
    in_vectors(
        begin, end, [&](Index i, auto put) __attribute__((always_inline)) {
          put(au + i, at(au + i) + at(ru + i) * at(pu + i)), put(av + i, at(av + i) + at(rv + i) * at(pv + i));
        });
  }
}

inline void add(State& s, Carrying& of, double span, Index j, Index begin, Index end, bool past) {
  const double x = span / s.p.dx(), y = span / s.p.dy();
  for (Index k = 0; k < s.p.layers; ++k) {
    const double *au = line(of.added_u, k, j), *av = line(of.added_v, k, j), *an = line(of.added_v, k, j + 1), *c = line(of.carried, k, j);
    double* h = line(s.next.h, k, j);
    in_vectors(
        begin, end, [&](Index i, auto put) __attribute__((always_inline)) {
          put(h + i, at(c + i) - x * (at(au + i + 1) - at(au + i)) - y * (at(an + i) - at(av + i)), past);
        });
  }
}

}  // namespace ocean_micom
