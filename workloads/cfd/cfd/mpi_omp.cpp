// Processes of threads: a block a process, whose rows its threads share.
#include "../ranks.hpp"
#include "../threads.hpp"
#include "../vector_rows.hpp"
#include "kernels/simple.hpp"

using Both = cfd::Simple<cfd::Ranks<cfd::Threads>, cfd::VectorRows>;

FL_VARIANT(cfd, Both)
