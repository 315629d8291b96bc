// One cell of the grid: the same body on processors, a number or a vector of numbers at a time, and on devices.
#pragma once

#include "fdtd2d.hpp"
#include "firstlight/host_device.hpp"

namespace fdtd2d {

template <class V>
FL_DEVICE V updated_ez(V ez, V ca, V cb, V hy, V hy_before, V hx, V hx_before) {
  return ca * ez + cb * ((hy - hy_before) - (hx - hx_before));
}
template <class V, class T>
FL_DEVICE V updated_hx(V hx, T s, V ez, V ez_next) {
  return hx - s * (ez_next - ez);
}
template <class V, class T>
FL_DEVICE V updated_hy(V hy, T s, V ez, V ez_next) {
  return hy + s * (ez_next - ez);
}

// What a run works on: fields of this block where they are (on the host, or copies on a device), in local coordinates. Passed by value.
template <class T>
struct Job {
  grid::View<T, 2> ez{}, hx{}, hy{};
  grid::View<const T, 2> ca{}, cb{};
  grid::View<T, 2> psi_ex{}, psi_ey{}, psi_hx{}, psi_hy{};
  const T *be = nullptr, *ce = nullptr, *bh = nullptr, *ch = nullptr;  // from this block's first line on: along i, along j
  const T *be_j = nullptr, *ce_j = nullptr, *bh_j = nullptr, *ch_j = nullptr;
  const T* pulse = nullptr;
  T s = 0;
  Index rows = 0, columns = 0;
  Index first_i = 0, last_i = 0, first_j = 0, last_j = 0;  // lines before and from which on layers absorb
  Index source_i = -1, source_j = -1;                      // not in this block: -1

  // E and H of one cell.
  FL_DEVICE void plain_e(Index i, Index j) const {
    ez(i, j) = updated_ez<T>(ez(i, j), ca(i, j), cb(i, j), hy(i, j), hy(i - 1, j), hx(i, j), hx(i, j - 1));
  }
  FL_DEVICE void plain_h(Index i, Index j) const {
    hx(i, j) = updated_hx<T>(hx(i, j), s, ez(i, j), ez(i, j + 1));
    hy(i, j) = updated_hy<T>(hy(i, j), s, ez(i, j), ez(i + 1, j));
  }

  // What layers add after that, along i and along j.
  FL_DEVICE void absorb_ei(Index i, Index j) const {
    psi_ex(i, j) = be[i] * psi_ex(i, j) + ce[i] * (hy(i, j) - hy(i - 1, j));
    ez(i, j) += cb(i, j) * psi_ex(i, j);
  }
  FL_DEVICE void absorb_ej(Index i, Index j) const {
    psi_ey(i, j) = be_j[j] * psi_ey(i, j) + ce_j[j] * (hx(i, j) - hx(i, j - 1));
    ez(i, j) -= cb(i, j) * psi_ey(i, j);
  }
  FL_DEVICE void absorb_hi(Index i, Index j) const {
    psi_hy(i, j) = bh[i] * psi_hy(i, j) + ch[i] * (ez(i + 1, j) - ez(i, j));
    hy(i, j) += s * psi_hy(i, j);
  }
  FL_DEVICE void absorb_hj(Index i, Index j) const {
    psi_hx(i, j) = bh_j[j] * psi_hx(i, j) + ch_j[j] * (ez(i, j + 1) - ez(i, j));
    hx(i, j) -= s * psi_hx(i, j);
  }
  FL_DEVICE bool absorbs_i(Index i) const { return i < first_i || i >= last_i; }
  FL_DEVICE bool absorbs_j(Index j) const { return j < first_j || j >= last_j; }

  // All that happens to a cell in time step t: what a thread of a device does.
  FL_DEVICE void e(Index i, Index j, Index t) const {
    plain_e(i, j);
    if (absorbs_i(i)) absorb_ei(i, j);
    if (absorbs_j(j)) absorb_ej(i, j);
    if (i == source_i && j == source_j) ez(i, j) += pulse[t];
  }
  FL_DEVICE void h(Index i, Index j) const {
    plain_h(i, j);
    if (absorbs_i(i)) absorb_hi(i, j);
    if (absorbs_j(j)) absorb_hj(i, j);
  }
};

// Fill line k of the halos of a grid that is its own neighbour: around_h those that E needs of H, around_e the one that H needs of E.
template <class T>
FL_DEVICE void around_h(const Job<T>& job, Index k) {
  if (k < job.columns) job.hy(-1, k) = job.hy(job.rows - 1, k);
  if (k < job.rows) job.hx(k, -1) = job.hx(k, job.columns - 1);
}
template <class T>
FL_DEVICE void around_e(const Job<T>& job, Index k) {
  if (k < job.columns) job.ez(job.rows, k) = job.ez(0, k);
  if (k < job.rows) job.ez(k, job.columns) = job.ez(k, 0);
}

// Where the numbers are: on the host as they are; a device returns the addresses of its copies. where(field or array) is that of element 0.
template <class T, class Where>
Job<T> job_of(State& s, Numbers<T>& a, const Where& where) {
  const auto view = [&](grid::Field<T, 2>& field) { return field.view(where(field)); };
  const auto fixed = [&](grid::Field<T, 2>& field) {
    const auto v = view(field);
    return grid::View<const T, 2>{v.origin, {v.stride[0], v.stride[1]}};
  };
  Job<T> job{.ez = view(a.ez), .hx = view(a.hx), .hy = view(a.hy), .ca = fixed(a.ca), .cb = fixed(a.cb)};
  const auto [i0, j0] = s.block.owned.lower;
  const auto [rows, columns] = s.block.size();
  job.s = static_cast<T>(s.s), job.rows = rows, job.columns = columns;
  job.last_i = rows, job.last_j = columns;
  if (is_driven(s.p.problem)) {
    job.pulse = where(a.pulse);
    const grid::Point<2> source{s.drawn.source_i, s.drawn.source_j};
    if (s.block.owned.contains(source)) job.source_i = source[0] - i0, job.source_j = source[1] - j0;
  }
  if (s.p.problem != Problem::cpml) return job;
  job.psi_ex = view(a.psi_ex), job.psi_ey = view(a.psi_ey), job.psi_hx = view(a.psi_hx), job.psi_hy = view(a.psi_hy);
  job.be = where(a.be) + i0, job.ce = where(a.ce) + i0, job.bh = where(a.bh) + i0, job.ch = where(a.ch) + i0;
  job.be_j = where(a.be) + j0, job.ce_j = where(a.ce) + j0, job.bh_j = where(a.bh) + j0, job.ch_j = where(a.ch) + j0;
  const auto clipped = [](Index line, Index count) { return line < 0 ? 0 : line > count ? count : line; };
  job.first_i = clipped(s.p.layers - i0, rows), job.last_i = clipped(s.p.n - s.p.layers - i0, rows);
  job.first_j = clipped(s.p.layers - j0, columns), job.last_j = clipped(s.p.n - s.p.layers - j0, columns);
  return job;
}

template <class T>
Job<T> job_on_host(State& s, Numbers<T>& a) {
  return job_of(s, a, [](auto& each) { return each.data(); });
}

}  // namespace fdtd2d
