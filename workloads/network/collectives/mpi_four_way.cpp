#include "kernels/scheduled.hpp"

FL_SCHEDULED(four_way)
