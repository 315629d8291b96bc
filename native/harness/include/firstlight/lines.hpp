// Cache lines: processors fetch them in pairs, so what different parties write is in different pairs.
#pragma once

#include "firstlight/workload.hpp"

namespace fl::inline FL_ROLE {

inline constexpr Index line_pair = 128;  // bytes

inline constexpr Index whole_pairs(Index bytes) { return (bytes + line_pair - 1) / line_pair * line_pair; }

}  // namespace fl::inline FL_ROLE
