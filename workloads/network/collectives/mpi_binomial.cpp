#include "scheduled.hpp"

FL_SCHEDULED(binomial)
