#include "kernels/tiles.hpp"

#include "firstlight/variant.hpp"

using Calu = lu::InTurn<lu::Tournament, lu::OwnProduct>;
FL_VARIANT(lu, Calu, .traits = {.tournament = true})
