#include "scheduled.hpp"

FL_SCHEDULED(scatter_allgather)
