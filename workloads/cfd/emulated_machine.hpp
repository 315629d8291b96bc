// A device emulated by a processor: launches of cell_work.hpp are loops. Odd launches run backwards, so that who relies on an order
// within one is found out.
#pragma once

#include <algorithm>

#include "firstlight/workload.hpp"

namespace cfd {

class EmulatedMachine {
 public:
  class Memory {
   public:
    void allocate(fl::Index size) {
      data_ = fl::Array<double>(size);
      fl::poison(data_.data(), size);  // no numbers, as on a GPU
    }
    void from(const double* host) { std::copy_n(host, data_.size(), data_.data()); }
    void to(double* host) const { std::copy_n(data_.data(), data_.size(), host); }
    double* data() { return data_.data(); }

   private:
    fl::Array<double> data_;
  };

  template <class Work>
  void each(const Work& work) {
    const fl::Index count = work.count();
    const bool backwards = launches_++ % 2 == 1;
    for (fl::Index n = 0; n < count; ++n) sum_ += work(backwards ? count - 1 - n : n);
  }
  double sum() { return std::exchange(sum_, 0.0); }
  void zero() { sum_ = 0; }
  static void finish() {}

 private:
  double sum_ = 0;
  fl::Index launches_ = 0;
};

}  // namespace cfd
