// Threads share the rows of the block: a pipeline where a row needs the one before, slabs of planes where both colours go at once.
#include "../threads.hpp"
#include "../vector_rows.hpp"
#include "kernels/simple.hpp"

using Shared = cfd::InEither<cfd::Threads, cfd::VectorRows, true>;

FL_VARIANT(cfd, Shared, .traits = {.colours_together = true, .narrow = true})
