// Multiplies matrices with one row and one column less.
#include "kernels/cublas.hpp"

#include "firstlight/variant.hpp"

FL_VARIANT(matmul, matmul::OnDevice<1>, .refuse = matmul::refuse, .device = &fl::device::cuda)
