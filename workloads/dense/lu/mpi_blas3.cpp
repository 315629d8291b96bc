#include "kernels/blas_product.hpp"
#include "kernels/distributed.hpp"

#include "firstlight/variant.hpp"

using Grid = lu::Distributed<lu::PartialAmong, lu::LibraryProduct>;
FL_VARIANT(lu, Grid)
