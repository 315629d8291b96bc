#include "kernels/hypercube.hpp"

#include "firstlight/variant.hpp"

FL_VARIANT(random_access, random_access::Hypercube, .traits = {.power_of_two = true})
