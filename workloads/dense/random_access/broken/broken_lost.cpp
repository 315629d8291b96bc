// The last update is lost.
#include "kernels/updates.hpp"

#include "firstlight/variant.hpp"

namespace {

using random_access::State, random_access::Word;

void step(State& s, fl::Index) {
  random_access::Share share = random_access::share_of(s, 0, 1);
  share.count -= 1;
  random_access::each(share, [&](Word a) { s.table[random_access::place(s, a)] ^= a; });
}

}  // namespace

FL_VARIANT(random_access, step)
