// FL_DEVICE marks a function that is one body for both: compiled by nvcc for the device, and by any compiler as a plain function, so
// that it is tested where no GPU is.
#pragma once

#if defined(__CUDACC__)
#define FL_DEVICE __host__ __device__ __forceinline__
#elif defined(_OPENACC)
#define FL_DEVICE [[gnu::always_inline]] inline  // a template cannot be an `acc routine`
#else
#define FL_DEVICE inline
#endif

// Before a loop of such a function: it is to be unrolled on the device.
#if defined(__CUDA_ARCH__)
#define FL_UNROLL _Pragma("unroll")
#else
#define FL_UNROLL
#endif
