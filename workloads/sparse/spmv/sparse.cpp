// Compressed rows as a numerical library multiplies them: MKL, Eigen.
#include <cstdlib>
#include <optional>

#include "kernels/csr.hpp"

#include "firstlight/sparse.hpp"
#include "firstlight/variant.hpp"

namespace {

struct csr {
  std::optional<spmv::Csr> rows;
  std::optional<fl::sparse::Product> a;

  void open(spmv::State& s) {
    rows.emplace(s);
    a.emplace(static_cast<int>(rows->rows), static_cast<int>(s.matrix.rows()), rows->start.data(), rows->column.data(), rows->value.data());
  }
  void step(spmv::State& s, fl::Index) {
    if (!a->multiply(s.scale, s.x.data(), s.y.data())) std::abort();
  }
};

constexpr fl::Kernel table[] = {FL_KERNEL(spmv, csr)};

}  // namespace

FL_KERNELS(spmv, table)
