#include "kernels/blas_product.hpp"
#include "kernels/tiles.hpp"

#include "firstlight/variant.hpp"

using WithLibrary = lu::InTurn<lu::Partial, lu::LibraryProduct>;
FL_VARIANT(lu, WithLibrary)
