#pragma once

#include <cstdint>

namespace fl {

// Sets the seed of this launch: `wanted`, or a random one if that is 0. Collective.
void draw_seed(std::uint64_t wanted);

}  // namespace fl
