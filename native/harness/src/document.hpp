// Files that users name as values of parameters.
#pragma once

#include <string>

#include "firstlight/workload.hpp"

namespace fl {

// Throws UsageError, with the parameter's name, for what is no readable file of 1 byte to 1 MiB.
Document read_document(const char* parameter, const std::string& path);

}  // namespace fl
