// Hybrid strategies: the threads of a process share its sub-domain; the master alone calls MPI (MPI_THREAD_FUNNELED).
#pragma once

#include <omp.h>

#include <cstring>

#include "sides.hpp"

namespace halo {

// Rows near the threads that pack and unpack them.
inline void place_rows(State& s) {
  fl::Array<unsigned char>& memory = s.domains[0].memory;
#pragma omp parallel num_threads(s.team.threads)
  {
    const fl::Part mine = fl::part(memory.size(), omp_get_num_threads(), omp_get_thread_num());
    std::memset(memory.data() + mine.begin, 0, static_cast<std::size_t>(mine.size()));
  }
}

// The share of thread `t` of `threads` in a region: a piece of its longer dimension.
inline Region share(const Region& r, int t, int threads) {
  const bool across = r.columns > r.rows;
  const fl::Index length = across ? r.columns : r.rows;
  const fl::Part mine = fl::part(length, threads, t);
  return across ? Region{r.row, r.column + mine.begin, r.rows, mine.size()} : Region{r.row + mine.begin, r.column, mine.size(), r.columns};
}

// Where a part of a region is in the box that contains the whole region row by row.
inline fl::Index offset_in_box(const Shape& s, const Region& whole, const Region& part) {
  return ((part.row - whole.row) * whole.columns + part.column - whole.column) * s.word;
}

inline void pack_share(const State& s, const Side& side, int t, int threads) {
  if (!side.boxed) return;
  const Region part = share(side.out, t, threads);
  copy(s, side.outbox + offset_in_box(s, side.out, part), side.out.columns, s.domains[0].field + offset(s, part), s.pitch, part.rows,
       part.columns);
}

inline void unpack_share(const State& s, const Side& side, int t, int threads) {
  if (!side.boxed) return;
  const Region part = share(side.in, t, threads);
  copy(s, s.domains[0].field + offset(s, part), s.pitch, side.inbox + offset_in_box(s, side.in, part), side.in.columns, part.rows,
       part.columns);
}

inline void copy_share_here(const State& s, const Side& side, const Side& other, int t, int threads) {
  unsigned char* field = s.domains[0].field;
  copy(s, field, share(side.out, t, threads), field, share(other.in, t, threads));
}

}  // namespace halo
