#include "kernels/scheduled.hpp"

FL_SCHEDULED(distance_halving)
