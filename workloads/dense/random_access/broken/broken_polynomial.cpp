// The bit that falls out adds another polynomial.
#include "kernels/updates.hpp"

#include "firstlight/variant.hpp"

namespace {

using random_access::State, random_access::Word;

void step(State& s, fl::Index) {
  Word a = random_access::number(s.first);
  for (fl::Index k = 0; k < s.updates; ++k, a = a << 1 ^ (a >> 63 != 0 ? 3 : 0)) s.table[random_access::place(s, a)] ^= a;
}

}  // namespace

FL_VARIANT(random_access, step)
