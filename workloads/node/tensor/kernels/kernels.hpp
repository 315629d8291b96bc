// CUDA: warps whose tiles stay in registers.
#pragma once

#include "device.hpp"

namespace tensor {

inline constexpr unsigned in_block = 128, lanes = 32;

// The version of the architecture that has the instruction, as __CUDA_ARCH__ writes it.
FL_DEVICE constexpr int needed(Format f) { return f == Format::fp8 ? 890 : 800; }

// C += A B by a warp.
template <Format f>
__device__ void multiply_add(typename Registers<f>::Number (&c)[Registers<f>::of_c],
                             const typename Registers<f>::Register (&a)[Registers<f>::of_a],
                             const typename Registers<f>::Register (&b)[Registers<f>::of_b]) {
#if __CUDA_ARCH__ >= 800
#define FL_MMA(shape)                                                                                       \
  asm volatile("mma.sync.aligned." shape " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                                             \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
  if constexpr (f == Format::fp64)
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(c[0]), "+d"(c[1])
                 : "d"(a[0]), "d"(b[0]));
  if constexpr (f == Format::tf32) FL_MMA("m16n8k8.row.col.f32.tf32.tf32.f32");
  if constexpr (f == Format::fp16) FL_MMA("m16n8k16.row.col.f32.f16.f16.f32");
  if constexpr (f == Format::bf16) FL_MMA("m16n8k16.row.col.f32.bf16.bf16.f32");
#if __CUDA_ARCH__ >= 890
  if constexpr (f == Format::fp8) FL_MMA("m16n8k32.row.col.f32.e4m3.e4m3.f32");
#endif
#undef FL_MMA
#endif
}

template <Format f>
__global__ void tiles_kernel(float* out, std::uint32_t shift, int laps_to_run) {
  using R = Registers<f>;
  const auto party = static_cast<std::uint32_t>(fl::cuda::first() / lanes);
  const int lane = static_cast<int>(threadIdx.x % lanes);
  if (fl::cuda::first() == 0) fl::device::note();
  typename R::Register a[R::of_a], other[R::of_a], b[chains][R::of_b];
  typename R::Number sum[chains][R::of_c] = {};
  for (int r = 0; r < R::of_a; ++r) a[r] = a_register<f>(ElementsOfA{party}, lane, r);
  for (int chain = 0; chain < chains; ++chain)
    for (int r = 0; r < R::of_b; ++r) b[chain][r] = b_register<f>(chain, lane, r);
  for (int lap = 0; lap < laps_to_run; ++lap) {
    const ElementsOfOther elements{party, shift_of_lap(shift, lap)};
    for (int r = 0; r < R::of_a; ++r) other[r] = a_register<f>(elements, lane, r);
    typename R::Number c[chains][R::of_c] = {};
    for (int pair = 0; pair < pairs; ++pair) {
      FL_UNROLL
      for (int chain = 0; chain < chains; ++chain) multiply_add<f>(c[chain], a, b[chain]);
      FL_UNROLL
      for (int chain = 0; chain < chains; ++chain) multiply_add<f>(c[chain], other, b[chain]);
    }
    FL_UNROLL
    for (int chain = 0; chain < chains; ++chain)
      for (int r = 0; r < R::of_c; ++r) sum[chain][r] += c[chain][r];
  }
  float* const mine = out + static_cast<fl::Index>(party) * tile(f).rows * width;
  for (int chain = 0; chain < chains; ++chain)
    for (int r = 0; r < R::of_c; ++r) {
      const Position at = c_position(lane, r);
      mine[at.i * width + columns * chain + at.j] = static_cast<float>(sum[chain][r]);
    }
}

inline std::string refuse(const Params& p) {
  int major = 0, minor = 0;
  fl::cuda::must(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0), "the device");
  fl::cuda::must(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0), "the device");
  if (100 * major + 10 * minor >= needed(p.format)) return "";
  return fl::text("this format needs a GPU of compute capability %d.%d or more", needed(p.format) / 100, needed(p.format) / 10 % 10);
}

// Runs so many laps of all tiles.
template <int laps_to_run>
struct Device {
  fl::cuda::Memory<float> there;

  void open(State& s) {
    s.object = this;
    s.fetch = [](State& state) { static_cast<Device*>(state.object)->there.to(state.out.data()); };
    s.poisoned = [](State& state) { static_cast<Device*>(state.object)->there.poison(); };
    there.allocate(s.out.size());
  }

  void step(State& s, fl::Index) {
    constexpr unsigned blocks = device_parties * lanes / in_block;
    const auto launch = [&]<Format f>() { tiles_kernel<f><<<blocks, in_block>>>(there.data(), s.shift, laps_to_run); };
    if (s.format == Format::fp64) launch.template operator()<Format::fp64>();
    if (s.format == Format::tf32) launch.template operator()<Format::tf32>();
    if (s.format == Format::fp16) launch.template operator()<Format::fp16>();
    if (s.format == Format::bf16) launch.template operator()<Format::bf16>();
    if (s.format == Format::fp8) launch.template operator()<Format::fp8>();
    fl::cuda::finished();
  }
};

}  // namespace tensor
