// Wrong: of its first two messages it gives the second's notice twice, so that nobody is told of the first.
#include "ranks.hpp"

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
