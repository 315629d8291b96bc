#include "kernels/scheduler.hpp"

#include "firstlight/variant.hpp"

using Threads = lu::Scheduled<lu::Tournament, lu::OwnProduct>;
FL_VARIANT(lu, Threads, .traits = {.tournament = true})
