#include "scheduled.hpp"

FL_SCHEDULED(bucket)
