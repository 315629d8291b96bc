// Rounds that are alike: whether they are.
#pragma once

#include <string>

#include "firstlight/collectives/schedule.hpp"

namespace fl::collectives {

// Compares Schedule::rounds with the programs of all ranks, or of a sample where that would take long. What differs, in words.
std::string broken_rounds(const Schedule& schedule);

}  // namespace fl::collectives
