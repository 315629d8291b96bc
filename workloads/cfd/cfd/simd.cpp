// One thread; solvers by as many cells at once as fit into a vector, both colours in one pass.
#include "../vector_rows.hpp"
#include "kernels/simple.hpp"

using Vectors = cfd::InEither<cfd::Alone, cfd::VectorRows, true>;

FL_VARIANT(cfd, Vectors, .traits = {.colours_together = true, .narrow = true})
