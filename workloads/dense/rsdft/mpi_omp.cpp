// Processes of threads: all of them compute, the first one calls MPI.
#include "firstlight/variant.hpp"
#include "kernels/processes.hpp"
#include "kernels/run.hpp"
#include "kernels/vectors.hpp"

using Hybrid = rsdft::Run<rsdft::VectorStencil, rsdft::VectorProducts, rsdft::Processes, rsdft::grid::OpenMp>;
FL_VARIANT(rsdft, Hybrid)
