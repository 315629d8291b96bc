#include "kernels/one_thread.hpp"

FL_KERNELS(spmv, spmv::Formats<spmv::OneThread>::table)
