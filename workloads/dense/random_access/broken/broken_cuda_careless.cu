// Loses what another thread writes between a load and a store.
#include "kernels/kernels.hpp"

#include "firstlight/variant.hpp"

namespace {

struct Careless {
  FL_DEVICE void operator()(random_access::Word* word, random_access::Word a) const { *word ^= a; }
};

}  // namespace

using Updates = random_access::Device<Careless, 1>;
FL_VARIANT(random_access, Updates, .device = &fl::device::cuda)
