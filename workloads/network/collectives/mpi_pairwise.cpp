#include "kernels/scheduled.hpp"

FL_SCHEDULED(pairwise)
