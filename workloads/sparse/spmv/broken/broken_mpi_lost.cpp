// The last element that comes from another process is taken from the first step on as it came then.
#include "kernels/processes.hpp"

#include "firstlight/variant.hpp"

namespace {

struct csr : spmv::Processes<spmv::Csr> {
  bool begun = false;
  double kept = 0;

  void step(spmv::State& s, fl::Index) {
    halo->start(s.x.data());
    halo->finish(s.x.data());
    double& last = s.x[s.x.size() - 1];
    if (!begun) kept = last;
    begun = true;
    last = kept;
    a->multiply(s.x.data(), s.y.data(), s.scale, {0, a->units()});
  }
};

constexpr fl::Kernel table[] = {FL_KERNEL(spmv, csr)};

}  // namespace

FL_KERNELS(spmv, table)
