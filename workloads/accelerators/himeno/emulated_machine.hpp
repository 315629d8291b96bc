// A device emulated by a processor: kernels run thread by thread, and there is one memory. B is what a thread knows of its block.
#pragma once

#include <algorithm>
#include <cstring>

#include "firstlight/workload.hpp"
#include "kernels.hpp"

namespace himeno::inline FL_ROLE::device {

template <class B = fl::Block>
struct Emulated {
  template <class T>
  class Memory {
   public:
    void allocate(Index size) {
      data_ = fl::Array<T>(size);  // so that what is written beside it is noticed
      std::memset(static_cast<void*>(data_.data()), 0xFF, static_cast<std::size_t>(size) * sizeof(T));  // no numbers, as on a GPU
    }
    void from(const T* host) { std::copy_n(host, data_.size(), data_.data()); }
    void to(T* host) const { std::copy_n(data_.data(), data_.size(), host); }
    T* data() { return data_.data(); }

   private:
    fl::Array<T> data_;
  };
  template <class T>
  using Pinned = Memory<T>;

  static void zero(Memory<double>& memory) { *memory.data() = 0; }
  template <class Kernel>
  static void launch(const Job& job) {
    using Shared = typename Kernel::Shared;
    fl::each_block<Shared>(Kernel::blocks(job), Kernel::threads,
                           [&](const fl::Block& block, Shared& shared) { Kernel::run(B{block}, shared, job); });
  }
  static void finish() {}

  // Beside the kernels, in order.
  class Queue {
   public:
    template <class Work>
    void each(Index count, const Work& work) {
      for (Index n = 0; n < count; ++n) work(n);
    }
    void to_device(float* to, const float* from, Index count) { std::copy_n(from, count, to); }
    void to_host(float* to, const float* from, Index count) { std::copy_n(from, count, to); }
    void finish() {}
  };
};

}  // namespace himeno::inline FL_ROLE::device
