#include "firstlight/variant.hpp"
#include "run.hpp"
#include "vectors.hpp"

using Vectors = rsdft::Run<rsdft::VectorStencil, rsdft::VectorProducts>;
FL_VARIANT(rsdft, Vectors)
