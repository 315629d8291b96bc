// Files that users name as values of parameters.
#pragma once

#include <string>

#include "firstlight/workload.hpp"

namespace fl {

// Reads a file. Throws UsageError with the parameter's name if the path is not a readable file of 1 byte to 1 MiB.
Document read_document(const char* parameter, const std::string& path);

// Whether a value has the form of a name in the record: mine.xyz-0123456789abcdef.
bool is_document_name(const std::string& value);

// Reads a file that a run keeps in `folder` under that name. Throws UsageError also if its contents do not match its name.
Document kept_document(const char* parameter, const std::string& folder, const std::string& name);

}  // namespace fl
