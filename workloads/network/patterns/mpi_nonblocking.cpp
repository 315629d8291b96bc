// All receives of a phase are posted, then all its messages are sent, and one call waits for all.
#include "kernels/steps.hpp"

using Iteration = patterns::Steps<patterns::AtOnce>;

FL_VARIANT(patterns, Iteration)
