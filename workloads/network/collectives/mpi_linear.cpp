#include "scheduled.hpp"

FL_SCHEDULED(linear)
