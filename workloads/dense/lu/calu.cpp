#include "tiles.hpp"

#include "firstlight/variant.hpp"

FL_VARIANT(lu, (lu::in_turn<lu::Tournament, lu::OwnProduct>), .traits = {.tournament = true})
