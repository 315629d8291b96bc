// Rows were sorted by their length; results stay in that order.
#include "kernels/one_thread.hpp"

#include "firstlight/variant.hpp"

namespace {

struct sell : spmv::OneThread<spmv::Sell> {
  void open(spmv::State& s) {
    OneThread::open(s);
    std::iota(a->order().begin(), a->order().end(), 0);
  }
};

constexpr fl::Kernel table[] = {FL_KERNEL(spmv, sell)};

}  // namespace

FL_KERNELS(spmv, table)
