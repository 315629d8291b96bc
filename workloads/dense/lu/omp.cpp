#include "kernels/scheduler.hpp"

#include "firstlight/variant.hpp"

using Threads = lu::Scheduled<lu::Partial, lu::OwnProduct>;
FL_VARIANT(lu, Threads)
