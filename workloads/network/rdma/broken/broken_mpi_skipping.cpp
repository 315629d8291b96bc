// Wrong: of a batch only the last step is taken.
#include "kernels/two_sided.hpp"

namespace {

struct LastStep : rdma::TwoSided {
  void loop(rdma::State& s, fl::Index first, fl::Index count) {
    for (fl::Index i = first; i < first + count; ++i) {
      mutate_inputs(s, i);
      if (i >= fl::beyond_timing || i + 1 == first + count) step(s, i);
    }
  }
};

}  // namespace

FL_VARIANT(rdma, LastStep, .refuse = rdma::puts_only)
