// A block a process; Stone's factors are those of the block, halos travel before each sweep and once for velocities and for fluxes.
#include "../ranks.hpp"
#include "../vector_rows.hpp"
#include "kernels/simple.hpp"

using Blocks = cfd::InEither<cfd::Ranks<>, cfd::VectorRows>;

FL_VARIANT(cfd, Blocks, .traits = {.narrow = true})
