// Wrong: sends the notice of its second message twice, instead of that of the first, so that no party is notified of the first.
#include "kernels/ranks.hpp"

namespace {

struct Wrong : rdma::Windows {
  void put(rdma::Transfer t) {
    if (t.tag >> 1 == 0) t.tag |= 2;
    Windows::put(t);
  }
};

}  // namespace

using Steps = rdma::Ranks<rdma::Memory::registered, Wrong>;
FL_VARIANT(rdma, Steps, .traits = {.given_memory = true})
