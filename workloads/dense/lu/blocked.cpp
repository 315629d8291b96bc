#include "kernels/tiles.hpp"

#include "firstlight/variant.hpp"

using Blocked = lu::InTurn<lu::Partial, lu::OwnProduct>;
FL_VARIANT(lu, Blocked)
