#include "kernels/accumulate.hpp"

#include "firstlight/variant.hpp"

FL_VARIANT(random_access, random_access::Accumulate, .traits = {.needs_partner = true})
