// One GPU: dgemm and sgemm of cuBLAS, on matrices in its memory.
#include "kernels/cublas.hpp"

#include "firstlight/variant.hpp"

FL_VARIANT(matmul, matmul::OnDevice<0>, .refuse = matmul::refuse, .device = &fl::device::cuda)
