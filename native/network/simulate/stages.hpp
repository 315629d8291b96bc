// The stages that all ranks execute one after the other, from a line of text, as a pattern of their number:
//
//   near:800|work:5200,sum:8,work:900
//
// One stage after the other, parts of a stage at once: work of so many nanoseconds, the sum of so many bytes over all ranks, and a message
// of so many bytes to the rank before and to the one behind. Work leaves messages alone: their transport continues meanwhile.
#pragma once

#include <string>

#include "firstlight/patterns/pattern.hpp"

namespace simulate {

// Raises Usage if the text is not a list of stages.
fl::patterns::Instance instance_of_stages(const std::string& text, fl::patterns::Rank ranks);

}  // namespace simulate
