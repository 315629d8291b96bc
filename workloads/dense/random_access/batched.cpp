#include "kernels/batches.hpp"

#include "firstlight/variant.hpp"

namespace {

using random_access::Word;

void step(random_access::State& s, fl::Index) {
  Word* table = s.table.data();
  const Word mask = static_cast<Word>(s.words - 1);
  random_access::in_batches(table, mask, random_access::share_of(s, 0, 1), [=](Word a) { table[a & mask] ^= a; });
}

}  // namespace

FL_VARIANT(random_access, step)
