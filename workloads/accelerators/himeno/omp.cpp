// Threads with a slab each, and vectors whose results go past the caches.
#include "kernels/threads.hpp"
#include "kernels/vectors.hpp"

#include "firstlight/variant.hpp"

namespace {

void place(himeno::State& s) { himeno::place(s, fl::grid::OpenMp{s.team.threads}); }

void step(himeno::State& s, fl::Index) {
  const fl::grid::OpenMp team{s.team.threads};
  for (fl::Index t = 0; t < s.params.sweeps; ++t, std::swap(s.p, s.next))
    s.gosa = himeno::summed(team, team.threads, [&](fl::Index share, fl::Index shares) {
      const double sum = himeno::sweep(s, fl::grid::share_of(s.block.cells(), share, shares), himeno::Vectors<himeno::past_caches>{});
      fl::nontemporal::fence();  // other threads read these results in the next sweep; no barrier waits for such stores
      return sum;
    });
}

}  // namespace

FL_VARIANT(himeno, step, .first_touch = place, .traits = {.bytes_a_point = himeno::bytes_past_caches})
