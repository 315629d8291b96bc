// All of them in one file; `novec` is this file with other flags.
#include "kernels.hpp"

FL_KERNELS(loops, loops::table)
