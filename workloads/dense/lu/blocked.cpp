#include "tiles.hpp"

#include "firstlight/variant.hpp"

FL_VARIANT(lu, (lu::in_turn<lu::Partial, lu::OwnProduct>))
