#include "kernels/lanes.hpp"
#include "kernels/processes.hpp"
#include "kernels/streamed.hpp"

#include "firstlight/variant.hpp"

namespace {

using csr = spmv::Processes<spmv::Csr>;
using csr4 = spmv::Processes<spmv::Csr4>;
using streamed2 = spmv::Processes<spmv::Streamed<2>>;
using streamed4 = spmv::Processes<spmv::Streamed<4>>;
using streamed8 = spmv::Processes<spmv::Streamed<8>>;
using sell = spmv::Processes<spmv::Sell>;
using sell_sorted = spmv::Processes<spmv::SellSorted>;
using ell = spmv::Processes<spmv::Ell>;

constexpr fl::Kernel table[] = {FL_KERNEL(spmv, csr),       FL_KERNEL(spmv, csr4),       FL_KERNEL(spmv, streamed2),
                                FL_KERNEL(spmv, streamed4), FL_KERNEL(spmv, streamed8),  FL_KERNEL(spmv, sell),
                                FL_KERNEL(spmv, ell),       FL_KERNEL(spmv, sell_sorted)};

}  // namespace

FL_KERNELS(spmv, table)
