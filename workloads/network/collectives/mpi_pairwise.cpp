#include "scheduled.hpp"

FL_SCHEDULED(pairwise)
