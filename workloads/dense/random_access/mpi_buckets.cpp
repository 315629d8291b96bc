#include "kernels/buckets.hpp"

#include "firstlight/variant.hpp"

FL_VARIANT(random_access, random_access::Buckets)
