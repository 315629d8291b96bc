// Padding multiplies 0 by the first element of x: right as long as that is a number.
#include "kernels/one_thread.hpp"

#include "firstlight/variant.hpp"

namespace {

template <class Format>
struct Padded : spmv::OneThread<Format> {
  void open(spmv::State& s) {
    spmv::Csr rows(s);
    rows.zero = 0;
    this->a.emplace(std::move(rows));
  }
};

using streamed4 = Padded<spmv::Streamed<4>>;
using sell = Padded<spmv::Sell>;
using ell = Padded<spmv::Ell>;

constexpr fl::Kernel table[] = {FL_KERNEL(spmv, streamed4), FL_KERNEL(spmv, sell), FL_KERNEL(spmv, ell)};

}  // namespace

FL_KERNELS(spmv, table)
