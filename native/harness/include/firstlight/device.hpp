// On which device the steps of a variant run, as the steps themselves observe it.
//
// A variant for a device includes this file, ends in FL_VARIANT(..., .device = &fl::device::openmp) (or openacc, cuda), and notes where it
// is once a step, from inside of the code that should run on the device:
//
//   #pragma omp target teams distribute parallel for
//   for (fl::Index i = 0; i < n; ++i) { if (i == 0) fl::device::note(); ... }
//
// OpenMP and OpenACC fall back to the host in silence where something is missing. So the harness lets such a variant run only where there
// is a device, assigns one to every rank by its place on its node, clears the notes before the samples and reads them afterwards: a case whose
// steps noted the host, or nothing, fails.
#pragma once

#include <cstddef>
#include <string>

#if defined(__CUDACC__)
#include <cuda_runtime.h>
#elif defined(_OPENACC)
#include <openacc.h>
#elif defined(_OPENMP)
#include <omp.h>
#endif

namespace fl::device {

enum Place : int { nowhere, on_host, on_device };

// What one rank saw. `name` is the name of the device if the runtime reports one; `address` is unique on a node.
struct Seen {
  int place = nowhere;
  char name[96] = {};
  char address[32] = {};
};

// What the harness must know of a way to reach devices.
struct Runtime {
  const char* name;
  std::string (*lacking)();    // why no step can run on a device here; empty where one can
  int (*count)();              // devices that this process may use
  void (*choose)(int number);  // below that count
  void (*forget)();
  Seen (*seen)();  // since then
};

// The target that the compiler generates code for, from the build; empty: no device at all.
#ifndef FL_OFFLOAD
#define FL_OFFLOAD ""
#endif

template <std::size_t size>
void put(char (&to)[size], const std::string& from) {
  to[from.copy(to, size - 1)] = '\0';
}

#if defined(__CUDACC__)

static __device__ int noted_there;
static const void* noted_memory = nullptr;

// In a kernel: that it ran. Kernels run on a device or not at all.
__device__ inline void note() { noted_there = on_device; }
// On the host, for steps without a kernel: what they use on the device. place_of() finds out where it is after the samples.
inline void note_memory(const void* memory) { noted_memory = memory; }
inline int place_of(const void* memory) {
  cudaPointerAttributes attributes{};
  return cudaPointerGetAttributes(&attributes, memory) == cudaSuccess && attributes.type == cudaMemoryTypeDevice ? on_device : on_host;
}

inline int cuda_count() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}
inline std::string cuda_lacking() {
  int count = 0;
  const cudaError_t outcome = cudaGetDeviceCount(&count);
  if (outcome != cudaSuccess) return std::string("none here: ") + cudaGetErrorString(outcome);
  return count > 0 ? "" : "none here: CUDA finds no device";
}
inline void cuda_choose(int number) { cudaSetDevice(number); }
inline void cuda_forget() {
  noted_memory = nullptr;
  const int none = nowhere;
  cudaMemcpyToSymbol(noted_there, &none, sizeof none);
}
inline Seen cuda_seen() {
  Seen seen;
  int there = nowhere, number = 0;
  if (cudaMemcpyFromSymbol(&there, noted_there, sizeof there) != cudaSuccess) there = nowhere;
  seen.place = noted_memory != nullptr ? place_of(noted_memory) : there;
  cudaDeviceProp properties{};
  if (cudaGetDevice(&number) == cudaSuccess && cudaGetDeviceProperties(&properties, number) == cudaSuccess) put(seen.name, properties.name);
  if (cudaDeviceGetPCIBusId(seen.address, sizeof seen.address, number) != cudaSuccess) put(seen.address, "");
  return seen;
}
inline constexpr Runtime cuda{"CUDA", cuda_lacking, cuda_count, cuda_choose, cuda_forget, cuda_seen};

#elif defined(_OPENACC)

static int noted = nowhere;
#pragma acc declare create(noted)

#pragma acc routine seq
inline void note() { noted = acc_on_device(acc_device_host) ? on_host : on_device; }

inline int openacc_count() { return acc_get_num_devices(acc_device_not_host); }
inline std::string openacc_lacking() {
  if (FL_OFFLOAD[0] == '\0') return "this compiler generated code only for the host";
  return openacc_count() > 0 ? "" : "none here: OpenACC finds no device";
}
inline void openacc_choose(int number) { acc_set_device_num(number, acc_device_not_host); }
inline void openacc_forget() {
  noted = nowhere;
#pragma acc update device(noted)
}
inline Seen openacc_seen() {
  Seen seen;
  seen.place = noted;  // of steps on the host, which are not hidden by others on a device
  if (seen.place == nowhere) {
#pragma acc update self(noted)
    seen.place = noted;
  }
  const acc_device_t kind = acc_get_device_type();
  const int number = acc_get_device_num(kind);
  if (seen.place == on_device) put(seen.name, acc_get_property_string(number, kind, acc_property_name));
  put(seen.address, std::to_string(number));
  return seen;
}
inline constexpr Runtime openacc{"OpenACC", openacc_lacking, openacc_count, openacc_choose, openacc_forget, openacc_seen};

#elif defined(_OPENMP)

#pragma omp declare target
static int noted = nowhere;
inline void note() {
#if defined(__NVPTX__) || defined(__AMDGCN__)
  noted = on_device;
#elif defined(__clang__)
  noted = on_host;  // Clang compiles a region once for each target: this copy is the processor's, be it called a device or not
#else
  noted = omp_is_initial_device() != 0 ? on_host : on_device;
#endif
}
#pragma omp end declare target

inline int openmp_count() { return omp_get_num_devices(); }
inline std::string openmp_lacking() {
  if (FL_OFFLOAD[0] == '\0') return "this compiler generated code only for the host";
  return openmp_count() > 0 ? "" : "none here: OpenMP finds no device";
}
inline void openmp_choose(int number) { omp_set_default_device(number); }
inline void openmp_forget() {
  noted = nowhere;
#pragma omp target update to(noted)
}
inline Seen openmp_seen() {
  Seen seen;
  seen.place = noted;  // of steps on the host, which are not hidden by others on a device
  if (seen.place == nowhere) {
#pragma omp target update from(noted)
    seen.place = noted;
  }
  if (seen.place == on_device) put(seen.name, FL_OFFLOAD);
  put(seen.address, std::to_string(omp_get_default_device()));
  return seen;
}
inline constexpr Runtime openmp{"OpenMP", openmp_lacking, openmp_count, openmp_choose, openmp_forget, openmp_seen};

#endif

}  // namespace fl::device
