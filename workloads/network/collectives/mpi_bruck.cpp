#include "scheduled.hpp"

FL_SCHEDULED(bruck)
