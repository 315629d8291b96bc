#include "firstlight/variant.hpp"
#include "processes.hpp"
#include "run.hpp"
#include "vectors.hpp"

using Ranks = rsdft::Run<rsdft::VectorStencil, rsdft::VectorProducts, rsdft::Processes>;
FL_VARIANT(rsdft, Ranks)
