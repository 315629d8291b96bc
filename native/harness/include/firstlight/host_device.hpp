// FL_DEVICE marks a function that is one body for both: compiled by nvcc for the device, and by any compiler as a plain function, so
// that it is tested where no GPU is.
#pragma once

#if defined(__CUDACC__)
#define FL_DEVICE __host__ __device__ __forceinline__
#else
#define FL_DEVICE inline
#endif
