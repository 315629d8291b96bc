// One of the loops is wrong: the last element is not gathered.
#include <array>
#include <string_view>

#include "kernels/kernels.hpp"

namespace {

void gather_load(vectorise::State& s, fl::Index) {
  for (fl::Index i = 0; i + 1 < s.n; ++i) s.x[i] = s.a[s.q[i]];
}

constexpr auto table = [] {
  auto kernels = std::to_array(vectorise::table);
  for (fl::Kernel& kernel : kernels)
    if (std::string_view(kernel.name) == "gather_load") kernel = FL_KERNEL(vectorise, gather_load);
  return kernels;
}();

}  // namespace

FL_KERNELS(vectorise, table)
