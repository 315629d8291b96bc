// All but the first thread begin one number early.
#include "kernels/threads.hpp"

#include "firstlight/variant.hpp"

namespace {

using random_access::State, random_access::Word;

void step(State& s, fl::Index) {
#pragma omp parallel for num_threads(s.team.threads) schedule(static, 1)
  for (int thread = 0; thread < s.team.threads; ++thread) {
    random_access::Share share = random_access::share_of(s, thread, s.team.threads);
    share.first -= thread > 0 ? 1 : 0;
    random_access::each(share, [&](Word a) { random_access::Atomic()(s.table[random_access::place(s, a)], a); });
  }
}

}  // namespace

FL_VARIANT(random_access, step)
