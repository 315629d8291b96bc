// Wrong: puts its last message one word further than it should, into the guard behind it.
#include "kernels/ranks.hpp"

namespace {

struct Wrong : rdma::Windows {
  int last = 0;
  void open(const rdma::Shape& s, int me) {
    last = s.all() - 1;
    Windows::open(s, me);
  }
  void put(rdma::Transfer t) {
    if (static_cast<int>(t.tag >> 1) == last) t.remote += 8;
    Windows::put(t);
  }
};

}  // namespace

using Steps = rdma::Ranks<rdma::Memory::registered, Wrong>;
FL_VARIANT(rdma, Steps, .traits = {.given_memory = true})
