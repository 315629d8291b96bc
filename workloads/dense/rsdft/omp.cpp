// Threads cut the block where H acts, and its cells where states meet.
#include "firstlight/variant.hpp"
#include "kernels/run.hpp"
#include "kernels/vectors.hpp"

using Threads = rsdft::Run<rsdft::VectorStencil, rsdft::VectorProducts, rsdft::OneProcess, rsdft::grid::OpenMp>;
FL_VARIANT(rsdft, Threads)
