// Processes of threads: all of them compute, the first one calls MPI.
#include "firstlight/variant.hpp"
#include "processes.hpp"
#include "run.hpp"
#include "vectors.hpp"

using Hybrid = rsdft::Run<rsdft::VectorStencil, rsdft::VectorProducts, rsdft::Processes, rsdft::grid::OpenMp>;
FL_VARIANT(rsdft, Hybrid)
