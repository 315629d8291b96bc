// cuBLAS, loaded at run time: programs are built and refuse in one line where it is not installed.
#pragma once

#include <dlfcn.h>

#include "matmul.hpp"

#include "firstlight/cuda.hpp"

namespace matmul {

class Cublas {
 public:
  static const Cublas& library() {
    static const Cublas loaded;
    return loaded;
  }
  bool found() const { return dgemm_ != nullptr && sgemm_ != nullptr; }

  // C = factor A B of matrices with rows one after the other: for cuBLAS these are columns, so it computes the transposed product.
  void multiply(int n, double factor, const double* a, const double* b, double* c) const {
    constexpr double zero = 0;
    must(dgemm_(handle(), as_is, as_is, n, n, n, &factor, b, n, a, n, &zero, c, n));
  }
  void multiply(int n, float factor, const float* a, const float* b, float* c) const {
    constexpr float zero = 0;
    must(sgemm_(handle(), as_is, as_is, n, n, n, &factor, b, n, a, n, &zero, c, n));
  }

 private:
  using Handle = void*;
  template <class T>
  using Gemm = int (*)(Handle, int, int, int, int, int, const T*, const T*, int, const T*, int, const T*, T*, int);
  static constexpr int as_is = 0;  // CUBLAS_OP_N

  Cublas() {
    void* library = nullptr;
    for (const char* name : {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11", "libcublas.so"})
      if (library == nullptr) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return;
    create_ = reinterpret_cast<int (*)(Handle*)>(dlsym(library, "cublasCreate_v2"));
    dgemm_ = reinterpret_cast<Gemm<double>>(dlsym(library, "cublasDgemm_v2"));
    sgemm_ = reinterpret_cast<Gemm<float>>(dlsym(library, "cublasSgemm_v2"));
  }
  // The harness has chosen the device by the first use.
  Handle handle() const {
    static const Handle made = [this] {
      Handle handle = nullptr;
      must(create_(&handle));
      return handle;
    }();
    return made;
  }
  static void must(int status) {
    if (status != 0) fl::abort_all(fl::text("cuBLAS: status %d", status));
  }

  int (*create_)(Handle*) = nullptr;
  Gemm<double> dgemm_ = nullptr;
  Gemm<float> sgemm_ = nullptr;
};

inline std::string refuse(const Params&) {
  return Cublas::library().found() ? "" : "this variant of matmul needs cuBLAS; libcublas.so is not on the search path of libraries";
}

// Multiplies matrices of n - left_out rows.
template <int left_out>
struct OnDevice {
  template <class T>
  struct Copies {
    fl::cuda::Memory<T> a, b, c;
  };
  Copies<float> singles;
  Copies<double> doubles;

  template <class Use>
  void with(State& s, Use use) {
    if (s.precision == 32)
      use(s.singles, singles, static_cast<float>(s.factor));
    else
      use(s.doubles, doubles, s.factor);
  }
  static OnDevice& of(State& s) { return *static_cast<OnDevice*>(s.object); }

  void open(State& s) {
    s.object = this;
    s.fetch = [](State& state) { of(state).with(state, [](auto& here, auto& there, auto) { there.c.to(here.c.data()); }); };
    s.poisoned = [](State& state) { of(state).with(state, [](auto&, auto& there, auto) { there.c.poison(); }); };
    s.changed = [](State& state, Index i) {
      of(state).with(state, [&](auto& here, auto& there, auto) { there.a.from(here.a.data(), i); });
    };
    with(s, [](auto& here, auto& there, auto) {
      there.a.allocate(here.a.size());
      there.a.from(here.a.data());
      there.b.allocate(here.b.size());
      there.b.from(here.b.data());
      there.c.allocate(here.c.size());
    });
  }

  void step(State& s, Index) {
    const int n = static_cast<int>(s.n) - left_out;
    with(s, [n](auto&, auto& there, auto factor) {
      Cublas::library().multiply(n, factor, there.a.data(), there.b.data(), there.c.data());
      fl::cuda::finished();
      fl::device::note_memory(there.c.data());
    });
  }
};

}  // namespace matmul
