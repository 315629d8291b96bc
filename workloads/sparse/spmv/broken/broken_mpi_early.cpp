// Multiplies all rows while the rest of x travels.
#include "kernels/processes.hpp"

#include "firstlight/variant.hpp"

namespace {

struct csr : spmv::Processes<spmv::Csr> {
  void step(spmv::State& s, fl::Index) {
    halo->start(s.x.data());
    a->multiply(s.x.data(), s.y.data(), s.scale, {0, a->units()});
    halo->finish(s.x.data());
  }
};

constexpr fl::Kernel table[] = {FL_KERNEL(spmv, csr)};

}  // namespace

FL_KERNELS(spmv, table)
