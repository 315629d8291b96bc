// Wrong: multiplies only the stored half of a symmetric matrix.
#include "kernels/one_thread.hpp"

#include "firstlight/variant.hpp"

namespace {

struct symmetric : spmv::OneThread<spmv::Csr> {
  void open(spmv::State& s) {
    OneThread::open(s);
    for (fl::Index i = 0; i < a->rows; ++i)
      for (fl::Index k = a->start[i]; k < a->start[i + 1]; ++k)
        if (a->column[k] < i) a->value[k] = 0;
  }
};

constexpr fl::Kernel table[] = {FL_KERNEL(spmv, symmetric)};

}  // namespace

FL_KERNELS(spmv, table)
