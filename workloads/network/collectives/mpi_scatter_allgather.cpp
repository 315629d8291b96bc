#include "kernels/scheduled.hpp"

FL_SCHEDULED(scatter_allgather)
