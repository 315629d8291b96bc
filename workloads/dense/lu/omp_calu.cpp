#include "scheduler.hpp"

#include "firstlight/variant.hpp"

FL_VARIANT(lu, (lu::scheduled<lu::Tournament, lu::OwnProduct>), .traits = {.tournament = true})
