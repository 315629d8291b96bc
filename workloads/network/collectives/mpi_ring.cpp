#include "scheduled.hpp"

FL_SCHEDULED(ring)
