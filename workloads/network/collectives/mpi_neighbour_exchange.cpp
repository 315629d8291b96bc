#include "scheduled.hpp"

FL_SCHEDULED(neighbour_exchange)
