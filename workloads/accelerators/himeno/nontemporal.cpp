// Vectors whose results go past the caches: what is written is not read before.
#include "kernels/vectors.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(himeno::State& s, fl::Index) {
  himeno::run(s, himeno::Vectors<himeno::Store::nontemporal>{});
  fl::nontemporal::fence();
}

}  // namespace

FL_VARIANT(himeno, step, .refuse = [](const himeno::Params&) { return fl::nontemporal::refusal(); }, .traits = {.bytes_a_point = 56})
