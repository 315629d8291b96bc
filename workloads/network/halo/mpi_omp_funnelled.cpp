// Hybrid: all threads of a process pack and unpack, the master exchanges. The team lives as long as the loop.
#include "kernels/team.hpp"

namespace {

// Called by every thread of the team. Each barrier is needed: the master sends what all have packed, all unpack what it has
// received, and the columns of the second phase hold the corners of the first.
void phase(const halo::State& s, const halo::Side& low, const halo::Side& high, int t, int threads) {
  if (low.here) {
    halo::copy_share_here(s, low, high, t, threads);
    halo::copy_share_here(s, high, low, t, threads);
  } else {
    halo::pack_share(s, low, t, threads);
    halo::pack_share(s, high, t, threads);
#pragma omp barrier
#pragma omp master
    halo::exchange(low, high);
#pragma omp barrier
    halo::unpack_share(s, low, t, threads);
    halo::unpack_share(s, high, t, threads);
  }
#pragma omp barrier
}

struct Exchange : halo::OpenSides {
  void loop(halo::State& s, fl::Index first, fl::Index count) {
#pragma omp parallel num_threads(s.team.threads)
    for (fl::Index i = first; i < first + count; ++i) {
#pragma omp master
      halo::mutate_inputs(s, i);
#pragma omp barrier
      for (std::size_t way = 0; way < halo::sides; way += 2)
        phase(s, all.side[way], all.side[way + 1], omp_get_thread_num(), omp_get_num_threads());
    }
  }
};

}  // namespace

FL_VARIANT(halo, Exchange, .refuse = halo::narrow_in_place, .first_touch = halo::place_rows)
