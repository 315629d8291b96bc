#include "blas_product.hpp"
#include "distributed.hpp"

#include "firstlight/variant.hpp"

using Grid = lu::Distributed<lu::PartialAmong, lu::LibraryProduct>;
FL_VARIANT(lu, Grid)
