#include "firstlight/blas.hpp"
#include "firstlight/variant.hpp"
#include "kernels/products.hpp"
#include "kernels/run.hpp"
#include "kernels/vectors.hpp"

namespace {

using rsdft::Columns, rsdft::Index;

// Products by whichever BLAS the build links.
struct BlasProducts {
  static void inner(Index rows, Index m, Index n, Columns<const double> a, Columns<const double> b, Columns<double> c) {
    product(fl::blas::transposed, m, n, rows, 1, a, b, c);
  }
  static void outer(Index rows, Index m, Index n, double alpha, Columns<const double> a, Columns<const double> b, Columns<double> c) {
    product(fl::blas::as_is, rows, n, m, alpha, a, b, c);
  }

 private:
  static void product(fl::blas::Transpose a_is, Index rows, Index columns, Index terms, double alpha, Columns<const double> a,
                      Columns<const double> b, Columns<double> c) {
    const auto i = [](Index count) { return static_cast<int>(count); };
    FL_CBLAS(dgemm)
    (fl::blas::row_major, a_is, fl::blas::as_is, i(rows), i(columns), i(terms), alpha, a.first, i(a.stride), b.first, i(b.stride), 1,
     c.first, i(c.stride));
  }
};

}  // namespace

using Library = rsdft::Run<rsdft::VectorStencil, BlasProducts>;
FL_VARIANT(rsdft, Library)
