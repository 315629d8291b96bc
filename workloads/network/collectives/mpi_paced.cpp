#include "scheduled.hpp"

FL_SCHEDULED(paced)
