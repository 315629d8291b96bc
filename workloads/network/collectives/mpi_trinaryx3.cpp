#include "kernels/scheduled.hpp"

FL_SCHEDULED(trinaryx3)
