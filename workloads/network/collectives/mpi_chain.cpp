#include "scheduled.hpp"

FL_SCHEDULED(chain)
