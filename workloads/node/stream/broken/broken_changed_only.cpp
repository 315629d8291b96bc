// Stores or adds only the elements that changed, found by following the mutate_inputs() of each step.
#include <vector>

#include "kernels/vectors.hpp"

#include "firstlight/variant.hpp"

namespace {

struct Pass {
  fl::Index before = -1;
  std::vector<double> added;  // values that `load` has added
  double sum = 0;

  void step(stream::State& s, fl::Index iteration) {
    const auto take = [&](fl::Index i) {
      if (s.op == stream::Op::load) {
        double& known = added[static_cast<std::size_t>(i)];
        sum += s.x[i] - known;
        known = s.x[i];
      } else {
        s.out[i] = stream::combine(s.op, s.x[i], stream::reads_two(s.op) ? s.y[i] : 0.0);
      }
    };
    if (s.op == stream::Op::load) added.resize(static_cast<std::size_t>(s.n));
    if (before < 0 || (s.op != stream::Op::load && s.out[0] != s.out[0])) {  // outputs are poisoned
      for (fl::Index i = 0; i < s.n; ++i) take(i);
    } else {
      for (fl::Index i = before + 1; i <= iteration; ++i) s.changing.mutate_inputs(i, take);  // includes the changes between batches
      take(s.n - 1);
    }
    before = iteration;
    s.result = sum;
  }
};

}  // namespace

FL_VARIANT(stream, Pass)
