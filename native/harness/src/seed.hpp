#pragma once

#include <cstdint>

namespace fl {

// Of this launch: the one wanted, or one of chance where that is 0. Collective.
void draw_seed(std::uint64_t wanted);

}  // namespace fl
