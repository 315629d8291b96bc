#include "kernels/threads.hpp"

#include "firstlight/variant.hpp"

namespace {

using csr = spmv::Threads<spmv::Csr>;
using csr4 = spmv::Threads<spmv::Csr4>;
using streamed2 = spmv::Threads<spmv::Streamed<2>>;
using streamed4 = spmv::Threads<spmv::Streamed<4>>;
using streamed8 = spmv::Threads<spmv::Streamed<8>>;
using sell = spmv::Threads<spmv::Sell>;
using sell_sorted = spmv::Threads<spmv::SellSorted>;
using ell = spmv::Threads<spmv::Ell>;
using streamed_block = spmv::Threads<spmv::StreamedBlock>;
using tiled = spmv::Threads<spmv::Tiled<>>;
using symmetric = spmv::SymmetricThreads;

constexpr fl::Kernel table[] = {FL_KERNEL(spmv, csr),         FL_KERNEL(spmv, csr4),           FL_KERNEL(spmv, streamed2),
                                FL_KERNEL(spmv, streamed4),   FL_KERNEL(spmv, streamed8),      FL_KERNEL(spmv, sell),
                                FL_KERNEL(spmv, ell),         FL_KERNEL(spmv, streamed_block), FL_KERNEL(spmv, symmetric),
                                FL_KERNEL(spmv, sell_sorted), FL_KERNEL(spmv, tiled)};

}  // namespace

FL_KERNELS(spmv, table)
