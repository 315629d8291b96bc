#include "firstlight/variant.hpp"
#include "kernels/run.hpp"
#include "kernels/vectors.hpp"

using Vectors = rsdft::Run<rsdft::VectorStencil, rsdft::VectorProducts>;
FL_VARIANT(rsdft, Vectors)
