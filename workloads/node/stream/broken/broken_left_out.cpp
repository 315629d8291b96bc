// Skips all steps of a batch except the first and the one that would be last if the batch were as long as the previous one.
#include "kernels/vectors.hpp"

#include "firstlight/variant.hpp"

namespace {

struct Pass {
  fl::Index before = -2, first = 0, length = 0;

  void step(stream::State& s, fl::Index iteration) {
    if (iteration != before + 1) {  // iterations between batches are skipped
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
