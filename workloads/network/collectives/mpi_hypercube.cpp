#include "scheduled.hpp"

FL_SCHEDULED(hypercube)
