#include "scheduled.hpp"

FL_SCHEDULED(arc_disjoint)
