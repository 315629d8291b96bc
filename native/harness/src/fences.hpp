// Guards next to arrays: a step that reads there gets NaN, and one that writes there is found.
#pragma once

#include "firstlight/workload.hpp"

namespace fl {

// Marks what staggering leaves free before and behind every array that there is, 4 KiB in all, at least a line of it behind. After init,
// so that no page is placed by it.
void fence();
// How many of the arrays that were fenced were overrun by a write.
Index trespassed();

}  // namespace fl
