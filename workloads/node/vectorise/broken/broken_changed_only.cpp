// Keeps what it gathered, follows the mutate_inputs() of each step, and gathers only the elements that it changes.
#include <vector>

#include "kernels/kernels.hpp"

namespace {

struct gather_load {
  fl::Index before = -1;
  std::vector<double> kept;

  void step(vectorise::State& s, fl::Index iteration) {
    const auto take = [&](fl::Index j) {
      for (fl::Index k = 4 * j; k < 4 * j + 4 && k < s.n; ++k) kept[static_cast<std::size_t>(s.inverse[k])] = s.a[j];
    };
    kept.resize(static_cast<std::size_t>(s.n));
    for (fl::Index j = 0; before < 0 && j < s.n; ++j) take(j);
    for (fl::Index i = before + 1; i <= iteration; ++i) s.changing.mutate_inputs(i, take);  // includes the changes between batches
    take(0);
    before = iteration;
    std::copy(kept.begin(), kept.end(), s.x.begin());
  }
};

constexpr fl::Kernel table[] = {FL_KERNEL(vectorise, gather_load)};

}  // namespace

FL_KERNELS(vectorise, table)
