// Rows stay where they are: no tournament.
#include "kernels/tiles.hpp"

#include "firstlight/variant.hpp"

namespace {

template <class Product>
using None = lu::Searched<lu::AsTheyStand, Product>;

}  // namespace

using NoTournament = lu::InTurn<None, lu::OwnProduct>;
FL_VARIANT(lu, NoTournament, .traits = {.tournament = true})
