// Exchanges over MPI.
#pragma once

#include "exchange.hpp"
#include "firstlight/collectives/alltoall.hpp"

namespace spectral {

using fl::alltoall::Messages;

}  // namespace spectral
