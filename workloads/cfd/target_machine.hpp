// OpenMP on a device: memory there, and launches of cell_work.hpp as loops over all cells at once.
#pragma once

#include <omp.h>

#include <utility>

#include "firstlight/device.hpp"
#include "firstlight/workload.hpp"

namespace cfd {

class TargetMachine {
 public:
  class Memory {
   public:
    Memory() = default;
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    ~Memory() { omp_target_free(data_, device_); }

    void allocate(fl::Index size) {
      omp_target_free(data_, device_);
      size_ = static_cast<std::size_t>(size) * sizeof(double);
      device_ = omp_get_default_device();
      data_ = static_cast<double*>(omp_target_alloc(size_, device_));
      if (data_ == nullptr) fl::abort_all(fl::text("%zu bytes cannot be allocated on the device; choose a smaller size", size_));
    }
    void from(const double* host) { copy(data_, device_, host, omp_get_initial_device()); }
    void to(double* host) const { copy(host, omp_get_initial_device(), data_, device_); }
    double* data() { return data_; }

   private:
    void copy(double* to, int to_device, const double* from, int from_device) const {
      if (omp_target_memcpy(to, from, size_, 0, 0, to_device, from_device) != 0) fl::abort_all("a copy to or from the device failed");
    }

    double* data_ = nullptr;
    std::size_t size_ = 0;
    int device_ = 0;
  };

  template <class Work>
  void each(const Work& given) {
    const Work work = given;
    const fl::Index count = work.count();
    double sum = 0;
#pragma omp target teams distribute parallel for firstprivate(work) map(tofrom : sum) reduction(+ : sum)
    for (fl::Index n = 0; n < count; ++n) {
      if (n == 0) fl::device::note();
      sum += work(n);
    }
    sum_ += sum;
  }
  double sum() { return std::exchange(sum_, 0.0); }
  void zero() { sum_ = 0; }
  static void finish() {}

 private:
  double sum_ = 0;
};

}  // namespace cfd
