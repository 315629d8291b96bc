// Elements of other processes travel in the first step only.
#include "kernels/processes.hpp"

#include "firstlight/variant.hpp"

namespace {

struct csr : spmv::Processes<spmv::Csr> {
  bool begun = false;

  void step(spmv::State& s, fl::Index iteration) {
    if (begun) return a->multiply(s.x.data(), s.y.data(), s.scale, {0, a->units()});
    Processes::step(s, iteration);
    begun = true;
  }
};

constexpr fl::Kernel table[] = {FL_KERNEL(spmv, csr)};

}  // namespace

FL_KERNELS(spmv, table)
