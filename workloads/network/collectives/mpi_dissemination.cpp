#include "scheduled.hpp"

FL_SCHEDULED(dissemination)
