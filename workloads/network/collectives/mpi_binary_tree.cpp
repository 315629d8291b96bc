#include "kernels/scheduled.hpp"

FL_SCHEDULED(binary_tree)
