// One update of the last process is never sent.
#include "kernels/buckets.hpp"

#include "firstlight/variant.hpp"

namespace {

using random_access::State;

struct Lost : random_access::Buckets {
  void step(State& s, fl::Index iteration) {
    s.updates -= 1;
    Buckets::step(s, iteration);
    s.updates += 1;
  }
};

}  // namespace

FL_VARIANT(random_access, Lost)
