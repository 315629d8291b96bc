// Each step uses the numbers of the first one.
#include "kernels/updates.hpp"

#include "firstlight/variant.hpp"

namespace {

using random_access::State, random_access::Word;

struct Stale {
  bool begun = false;
  Word first = 0;

  void step(State& s, fl::Index) {
    if (!begun) first = s.first;
    begun = true;
    s.first = first;
    random_access::each(random_access::share_of(s, 0, 1), [&](Word a) { s.table[random_access::place(s, a)] ^= a; });
  }
};

}  // namespace

FL_VARIANT(random_access, Stale)
