// What the transforms exchange, and how: firstlight/alltoall.hpp.
#pragma once

#include "firstlight/alltoall.hpp"
#include "firstlight/fourier.hpp"

namespace spectral {

using fl::Complex, fl::Index;
using fl::alltoall::Alone, fl::alltoall::Exchange, fl::alltoall::Parts, fl::alltoall::scheduled, fl::alltoall::Way, fl::alltoall::ways,
    fl::alltoall::ways_help;
using Buffers = fl::alltoall::Buffers<Complex>;

inline constexpr fl::Phases phases{"transforms", "exchange", "reorder"};

}  // namespace spectral
