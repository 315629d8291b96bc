#include "kernels/scheduled.hpp"

FL_SCHEDULED(recursive_doubling)
