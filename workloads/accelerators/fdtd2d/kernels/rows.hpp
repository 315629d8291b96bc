// A row of cells at a time, the unit in which processors work: cells `from` to `to` of row i.
#pragma once

#include "firstlight/simd.hpp"
#include "update.hpp"

namespace fdtd2d {

// What layers and the source add to E of a row after its update.
template <class T>
void extra_e(const Job<T>& job, Index i, Index from, Index to, Index t) {
  if (job.absorbs_i(i))
    for (Index j = from; j < to; ++j) job.absorb_ei(i, j);
  for (Index j = from; j < std::min(to, job.first_j); ++j) job.absorb_ej(i, j);
  for (Index j = std::max(from, job.last_j); j < to; ++j) job.absorb_ej(i, j);
  if (i == job.source_i && job.source_j >= from && job.source_j < to) job.ez(i, job.source_j) += job.pulse[t];
}

// The same of hx, and of hy.
template <class T>
void extra_hx(const Job<T>& job, Index i, Index from, Index to) {
  for (Index j = from; j < std::min(to, job.first_j); ++j) job.absorb_hj(i, j);
  for (Index j = std::max(from, job.last_j); j < to; ++j) job.absorb_hj(i, j);
}
template <class T>
void extra_hy(const Job<T>& job, Index i, Index from, Index to) {
  if (job.absorbs_i(i))
    for (Index j = from; j < to; ++j) job.absorb_hi(i, j);
}

template <class T>
void row_e(const Job<T>& job, Index i, Index from, Index to, Index t) {
  FL_INDEPENDENT
  for (Index j = from; j < to; ++j) job.plain_e(i, j);
  extra_e(job, i, from, to, t);
}

template <class T>
void row_h(const Job<T>& job, Index i, Index from, Index to) {
  FL_INDEPENDENT
  for (Index j = from; j < to; ++j) job.plain_h(i, j);
  extra_hx(job, i, from, to);
  extra_hy(job, i, from, to);
}

}  // namespace fdtd2d
