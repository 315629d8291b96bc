#include "kernels/scheduled.hpp"

FL_SCHEDULED(neighbour_exchange)
