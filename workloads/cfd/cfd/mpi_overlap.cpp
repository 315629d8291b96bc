// A block a process; of red-black relaxation and conjugate gradients halos travel while the cells that need none are computed.
#include "../ranks.hpp"
#include "../vector_rows.hpp"
#include "kernels/simple.hpp"

using Overlap = cfd::Simple<cfd::Overlapping, cfd::VectorRows>;

FL_VARIANT(cfd, Overlap)
