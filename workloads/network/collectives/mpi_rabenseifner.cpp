#include "scheduled.hpp"

FL_SCHEDULED(rabenseifner)
