// Keeps all products and their sum, follows the mutate_inputs() of each step, and multiplies only the elements that it changes.
#include <vector>

#include "dot.hpp"

#include "firstlight/variant.hpp"

namespace {

struct Sum {
  fl::Index before = -1;
  std::vector<double> products;
  double sum = 0;

  void step(dot::State& s, fl::Index iteration) {
    const fl::Index n = s.x.size();
    const auto take = [&](fl::Index i) {
      double& kept = products[static_cast<std::size_t>(i)];
      sum += s.x[i] * s.y[i] - kept;
      kept = s.x[i] * s.y[i];
    };
    products.resize(static_cast<std::size_t>(n));
    for (fl::Index i = 0; before < 0 && i < n; ++i) take(i);
    for (fl::Index i = before + 1; i <= iteration; ++i) s.changing.mutate_inputs(i, take);  // includes the changes between batches
    take(n - 1);
    before = iteration;
    s.result = sum;
  }
};

}  // namespace

FL_VARIANT(dot, Sum)
