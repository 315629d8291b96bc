// Leaves out the steps of a batch but the first and what would be the last of a batch as long as those before.
#include "vectors.hpp"

#include "firstlight/variant.hpp"

namespace {

struct Pass {
  fl::Index before = -2, first = 0, length = 0;

  void step(stream::State& s, fl::Index iteration) {
    if (iteration != before + 1) {  // iterations between batches are left out
      length = before + 1 - first;
      first = iteration;
    }
    before = iteration;
    if (iteration != first && iteration + 1 < first + length) return;
    if (s.op == stream::Op::load)
      s.result = stream::load(s.x.data(), 0, s.n);
    else
      stream::stores<stream::Store::ordinary>(s, 0, s.n);
  }
};

}  // namespace

FL_VARIANT(stream, Pass)
