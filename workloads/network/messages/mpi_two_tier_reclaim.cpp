// As two_tier; where no fast buffer is left, one that is idle goes to a sender that is hot.
#include "kernels/run.hpp"

FL_VARIANT(messages, messages::Run<>, .traits = {.reclaim = true})
