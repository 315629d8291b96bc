#include "firstlight/variant.hpp"
#include "kernels/blas_products.hpp"
#include "kernels/run.hpp"
#include "kernels/vectors.hpp"

using Library = rsdft::Run<rsdft::VectorStencil, rsdft::BlasProducts>;
FL_VARIANT(rsdft, Library)
