// Wrong: reports a message before its words are there. When the step ends they are; a look at the moment of the notice finds old ones.
#include "kernels/ranks.hpp"

namespace {

struct Wrong : rdma::Windows {
  void put(rdma::Transfer t) {
    std::uint64_t word = 0;
    notify(t.interface, lane_of(t), t, &word);
    flush(notices_.handle());
    usleep(30);
    start(t);
    t.notice = false;
    lane_of(t).pending.push_back(t);
  }
};

}  // namespace

using Steps = rdma::Ranks<rdma::Memory::registered, Wrong>;
FL_VARIANT(rdma, Steps, .traits = {.given_memory = true})
