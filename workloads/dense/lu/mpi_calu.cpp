#include "kernels/distributed.hpp"

#include "firstlight/variant.hpp"

using Grid = lu::Distributed<lu::TournamentAmong, lu::OwnProduct>;
FL_VARIANT(lu, Grid, .traits = {.tournament = true})
