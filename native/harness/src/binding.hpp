// The CPUs that this process and its threads may use, as they see them themselves.
#pragma once

#include <vector>

namespace fl {

// The CPUs of all threads together, in the order of their numbers: each thread may have been bound to a place of its own.
std::vector<int> observed_binding(int threads);

}  // namespace fl
