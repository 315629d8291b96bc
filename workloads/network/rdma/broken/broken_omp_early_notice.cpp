// Wrong: reports a message, then copies its words.
#include "kernels/threads.hpp"

namespace {

struct Wrong : rdma::Stores {
  void put(const rdma::Transfer& t) {
    finish(t);
    usleep(30);
    if (t.bytes > 0) std::memcpy(reinterpret_cast<void*>(t.remote), t.local, static_cast<std::size_t>(t.bytes));
  }
};

}  // namespace

using Steps = rdma::Threads<Wrong>;
FL_VARIANT(rdma, Steps, .first_touch = rdma::first_touch, .traits = {.between_threads = true})
