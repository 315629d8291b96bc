#pragma once

#include <string>

namespace fl {

std::string describe();  // the JSON that --describe prints

}  // namespace fl
