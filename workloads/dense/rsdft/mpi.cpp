#include "firstlight/variant.hpp"
#include "kernels/processes.hpp"
#include "kernels/run.hpp"
#include "kernels/vectors.hpp"

using Ranks = rsdft::Run<rsdft::VectorStencil, rsdft::VectorProducts, rsdft::Processes>;
FL_VARIANT(rsdft, Ranks)
