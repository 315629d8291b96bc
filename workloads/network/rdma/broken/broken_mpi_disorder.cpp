// Wrong: reports an interface's messages in the opposite order.
#include <algorithm>

#include "kernels/ranks.hpp"

namespace {

struct Wrong : rdma::Windows {
  rdma::Event poll(int interface) {
    auto& pending = lanes_[static_cast<std::size_t>(interface)].pending;
    std::reverse(pending.begin(), pending.end());
    return Windows::poll(interface);
  }
};

}  // namespace

using Steps = rdma::Ranks<rdma::Memory::registered, Wrong>;
FL_VARIANT(rdma, Steps, .traits = {.given_memory = true})
