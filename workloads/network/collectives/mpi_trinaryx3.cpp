#include "scheduled.hpp"

FL_SCHEDULED(trinaryx3)
