// OpenMP on a device: the loops of a run with a directive each.
#pragma once

#include "directives.hpp"
#include "firstlight/device.hpp"

namespace fdtd2d {

struct OpenMpTarget {
  template <class T>
  class Memory {
   public:
    Memory() = default;
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    ~Memory() { omp_target_free(data_, omp_get_default_device()); }
    void allocate(Index size) {
      bytes_ = static_cast<std::size_t>(size) * sizeof(T);
      data_ = static_cast<T*>(omp_target_alloc(bytes_, omp_get_default_device()));
      if (data_ == nullptr) fl::abort_all("no memory on the device");
    }
    void from(const T* host) { copy(data_, omp_get_default_device(), host, omp_get_initial_device()); }
    void to(T* host) const { copy(host, omp_get_initial_device(), data_, omp_get_default_device()); }
    T* data() { return data_; }

   private:
    void copy(T* to, int there, const T* from, int here) const {
      if (omp_target_memcpy(to, const_cast<T*>(from), bytes_, 0, 0, there, here) != 0)
        fl::abort_all("a copy between host and device failed");
    }

    T* data_ = nullptr;
    std::size_t bytes_ = 0;
  };

  template <class T>
  static void run(const State& s, const Job<T>& job) {
    const Index rows = job.rows, columns = job.columns, longest = std::max(rows, columns);
    const bool around = s.p.problem == Problem::periodic;
    for (Index t = 0; t < s.p.steps; ++t) {
      if (around) {
#pragma omp target teams distribute parallel for firstprivate(job)
        for (Index k = 0; k < longest; ++k) around_h(job, k);
      }
#pragma omp target teams distribute parallel for collapse(2) firstprivate(job)
      for (Index i = 0; i < rows; ++i)
        for (Index j = 0; j < columns; ++j) {
          if (i == 0 && j == 0) fl::device::note();
          job.e(i, j, t);
        }
      if (around) {
#pragma omp target teams distribute parallel for firstprivate(job)
        for (Index k = 0; k < longest; ++k) around_e(job, k);
      }
#pragma omp target teams distribute parallel for collapse(2) firstprivate(job)
      for (Index i = 0; i < rows; ++i)
        for (Index j = 0; j < columns; ++j) job.h(i, j);
    }
  }
};

}  // namespace fdtd2d
