#include "kernels/scheduled.hpp"

FL_SCHEDULED(arc_disjoint)
