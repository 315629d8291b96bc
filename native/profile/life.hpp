// When recording begins and ends, and what is written then.
#pragma once

#include "state.hpp"

namespace fl {

void begin();                              // MPI is initialised
void end(bool complete, const char* how);  // writes the rank's file; a second call does nothing

}  // namespace fl
