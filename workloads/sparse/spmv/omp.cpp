#include "kernels/threads.hpp"

FL_KERNELS(spmv, spmv::Formats<spmv::Threads>::table)
