// Room for the longest message, in whole pairs of lines: no two boxes share what processors fetch together.
#pragma once

#include "halo.hpp"

namespace halo {

inline fl::Index longest_bytes(const Shape& s) { return fl::whole_pairs(s.width * s.pitch * s.word); }

}  // namespace halo
