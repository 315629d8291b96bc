// OpenACC: the loops of a run with a directive each.
#pragma once

#include "directives.hpp"
#include "firstlight/device.hpp"

namespace fdtd2d {

struct OpenAcc {
  template <class T>
  class Memory {
   public:
    Memory() = default;
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    ~Memory() { acc_free(data_); }
    void allocate(Index size) {
      bytes_ = static_cast<std::size_t>(size) * sizeof(T);
      data_ = static_cast<T*>(acc_malloc(bytes_));
      if (data_ == nullptr) fl::abort_all("no memory on the device");
    }
    void from(const T* host) { acc_memcpy_to_device(data_, const_cast<T*>(host), bytes_); }
    void to(T* host) const { acc_memcpy_from_device(host, data_, bytes_); }
    T* data() { return data_; }

   private:
    T* data_ = nullptr;
    std::size_t bytes_ = 0;
  };

  template <class T>
  static void run(const State& s, const Job<T>& job) {
    const Index rows = job.rows, columns = job.columns, longest = std::max(rows, columns);
    const bool around = s.p.problem == Problem::periodic;
    for (Index t = 0; t < s.p.steps; ++t) {
      if (around) {
#pragma acc parallel loop firstprivate(job)
        for (Index k = 0; k < longest; ++k) around_h(job, k);
      }
#pragma acc parallel loop collapse(2) firstprivate(job)
      for (Index i = 0; i < rows; ++i)
        for (Index j = 0; j < columns; ++j) {
          if (i == 0 && j == 0) fl::device::note();
          job.e(i, j, t);
        }
      if (around) {
#pragma acc parallel loop firstprivate(job)
        for (Index k = 0; k < longest; ++k) around_e(job, k);
      }
#pragma acc parallel loop collapse(2) firstprivate(job)
      for (Index i = 0; i < rows; ++i)
        for (Index j = 0; j < columns; ++j) job.h(i, j);
    }
  }
};

}  // namespace fdtd2d
