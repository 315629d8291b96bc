// The formats of processors, each multiplied by a `Way`: a struct that executes steps with a format.
#pragma once

#include "csr.hpp"
#include "firstlight/variant.hpp"
#include "lanes.hpp"
#include "streamed.hpp"
#include "symmetric.hpp"
#include "tiled.hpp"

namespace spmv {

template <template <class Format> class Way>
struct Formats {
  using csr = Way<Csr>;
  using csr4 = Way<Csr4>;
  using streamed2 = Way<Streamed<2>>;
  using streamed4 = Way<Streamed<4>>;
  using streamed8 = Way<Streamed<8>>;
  using sell = Way<Sell>;
  using sell_sorted = Way<SellSorted>;
  using ell = Way<Ell>;
  using streamed_block = Way<StreamedBlock>;
  using tiled = Way<Tiled<>>;
  using symmetric = Way<Symmetric>;

  static constexpr fl::Kernel table[] = {FL_KERNEL(spmv, csr),         FL_KERNEL(spmv, csr4),           FL_KERNEL(spmv, streamed2),
                                         FL_KERNEL(spmv, streamed4),   FL_KERNEL(spmv, streamed8),      FL_KERNEL(spmv, sell),
                                         FL_KERNEL(spmv, ell),         FL_KERNEL(spmv, streamed_block), FL_KERNEL(spmv, symmetric),
                                         FL_KERNEL(spmv, sell_sorted), FL_KERNEL(spmv, tiled)};
};

}  // namespace spmv
