// Every process has a fast buffer for every other from the start: the plain design.
#include "kernels/run.hpp"

FL_VARIANT(messages, messages::Run<>, .traits = {.prepared = true})
