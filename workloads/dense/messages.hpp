// Exchanges over MPI.
#pragma once

#include "exchange.hpp"
#include "firstlight/collectives/alltoall.hpp"

namespace spectral::inline FL_ROLE {

using fl::alltoall::Messages;

}  // namespace spectral::inline FL_ROLE
