// Wrong: sends all notices to the right party, but the words of the first message to the next party.
#include "kernels/ranks.hpp"

namespace {

struct Wrong : rdma::Windows {
  void put(const rdma::Transfer& t) {
    rdma::Transfer words = t;
    if (t.tag >> 1 == 0) words.peer = (t.peer + 1) % parties_;
    start(words);
    lane_of(t).pending.push_back(t);
  }
};

}  // namespace

using Steps = rdma::Ranks<rdma::Memory::registered, Wrong>;
FL_VARIANT(rdma, Steps, .traits = {.given_memory = true})
