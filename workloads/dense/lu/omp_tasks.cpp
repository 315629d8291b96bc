#include "kernels/tasks.hpp"

#include "firstlight/variant.hpp"

using Threads = lu::Tasks<lu::Partial, lu::OwnProduct>;
FL_VARIANT(lu, Threads)
