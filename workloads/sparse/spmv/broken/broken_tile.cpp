// The last tile reads x where the first one does.
#include "kernels/one_thread.hpp"

#include "firstlight/variant.hpp"

namespace {

struct tiled : spmv::OneThread<spmv::Tiled<16>> {
  void open(spmv::State& s) {
    OneThread::open(s);
    a->runs().back().tile = 0;
  }
};

constexpr fl::Kernel table[] = {FL_KERNEL(spmv, tiled)};

}  // namespace

FL_KERNELS(spmv, table)
