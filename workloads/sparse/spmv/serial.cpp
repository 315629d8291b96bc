#include "kernels/one_thread.hpp"

#include "firstlight/variant.hpp"

namespace {

using csr = spmv::OneThread<spmv::Csr>;
using csr4 = spmv::OneThread<spmv::Csr4>;
using streamed2 = spmv::OneThread<spmv::Streamed<2>>;
using streamed4 = spmv::OneThread<spmv::Streamed<4>>;
using streamed8 = spmv::OneThread<spmv::Streamed<8>>;
using sell = spmv::OneThread<spmv::Sell>;
using sell_sorted = spmv::OneThread<spmv::SellSorted>;
using ell = spmv::OneThread<spmv::Ell>;
using streamed_block = spmv::OneThread<spmv::StreamedBlock>;
using tiled = spmv::OneThread<spmv::Tiled<>>;
using symmetric = spmv::OneThread<spmv::Symmetric>;

constexpr fl::Kernel table[] = {FL_KERNEL(spmv, csr),         FL_KERNEL(spmv, csr4),           FL_KERNEL(spmv, streamed2),
                                FL_KERNEL(spmv, streamed4),   FL_KERNEL(spmv, streamed8),      FL_KERNEL(spmv, sell),
                                FL_KERNEL(spmv, ell),         FL_KERNEL(spmv, streamed_block), FL_KERNEL(spmv, symmetric),
                                FL_KERNEL(spmv, sell_sorted), FL_KERNEL(spmv, tiled)};

}  // namespace

FL_KERNELS(spmv, table)
