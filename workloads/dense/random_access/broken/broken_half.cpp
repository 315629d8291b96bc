// A bit of the place is lost: the upper half of the table is never changed.
#include "kernels/updates.hpp"

#include "firstlight/variant.hpp"

namespace {

using random_access::State, random_access::Word;

void step(State& s, fl::Index) {
  const Word mask = static_cast<Word>(s.words / 2 - 1);
  random_access::each(random_access::share_of(s, 0, 1), [&](Word a) { s.table[static_cast<fl::Index>(a & mask)] ^= a; });
}

}  // namespace

FL_VARIANT(random_access, step)
