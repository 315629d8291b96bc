#include "scheduled.hpp"

FL_SCHEDULED(distance_halving)
