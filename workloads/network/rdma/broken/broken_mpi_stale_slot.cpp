// Wrong: puts into the first set of slots in every step; in every second one old words lie where the notice promises new ones.
#include "kernels/ranks.hpp"

namespace {

struct Wrong : rdma::Windows {
  fl::Index set_bytes = 0;
  void open(const rdma::Shape& s, int me) {
    set_bytes = s.in(1, 0);
    Windows::open(s, me);
  }
  void put(rdma::Transfer t) {
    if ((t.tag & 1) != 0) t.remote -= set_bytes;
    Windows::put(t);
  }
};

}  // namespace

using Steps = rdma::Ranks<rdma::Memory::registered, Wrong>;
FL_VARIANT(rdma, Steps, .traits = {.given_memory = true})
