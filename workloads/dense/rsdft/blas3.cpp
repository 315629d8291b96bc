#include "blas_products.hpp"
#include "firstlight/variant.hpp"
#include "run.hpp"
#include "vectors.hpp"

using Library = rsdft::Run<rsdft::VectorStencil, rsdft::BlasProducts>;
FL_VARIANT(rsdft, Library)
