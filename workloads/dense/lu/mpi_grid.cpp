#include "kernels/distributed.hpp"

#include "firstlight/variant.hpp"

using Grid = lu::Distributed<lu::PartialAmong, lu::OwnProduct>;
FL_VARIANT(lu, Grid)
