// A sparse matrix in compressed rows times a vector by the numerical library that the build links: the interface of MKL's sparse BLAS, or Eigen's
// templates (FL_SPARSE_EIGEN), compiled with the flags of the including file.
#pragma once

#ifdef FL_SPARSE_EIGEN

#include <Eigen/SparseCore>

namespace fl::sparse {

// `start`, `column` and `value` are the caller's, and stay. Columns ascend within a row.
class Product {
 public:
  Product(int rows, int columns, int* start, int* column, double* value) : a_(rows, columns, start[rows], start, column, value) {}

  // y = factor A x; Eigen's product has no factor.
  bool multiply(double factor, const double* x, double* y) const {
    Eigen::Map<Eigen::VectorXd> result(y, a_.rows());
    result.noalias() = a_ * Eigen::Map<const Eigen::VectorXd>(x, a_.cols());
    result *= factor;
    return true;
  }

 private:
  Eigen::Map<const Eigen::SparseMatrix<double, Eigen::RowMajor, int>> a_;
};

}  // namespace fl::sparse

#else

#include <stdexcept>

extern "C" {
struct sparse_matrix;
struct matrix_descr {  // by value, as MKL declares it
  int type, mode, diagonal;
};
int mkl_sparse_d_create_csr(sparse_matrix** a, int base, int rows, int columns, int* begin, int* end, int* column, double* value);
int mkl_sparse_d_mv(int operation, double alpha, const sparse_matrix* a, matrix_descr what, const double* x, double beta, double* y);
int mkl_sparse_destroy(sparse_matrix* a);
}

namespace fl::sparse {

// Without mkl_sparse_optimize: for some matrices it stores rows with zeros added that it multiplies by elements of x which the row does not have,
// so that a NaN among them spreads (MKL 2026.2, AVX-512).
//
// `start`, `column` and `value` are the caller's, and stay. Columns ascend within a row. Throws std::runtime_error where the library refuses.
class Product {
 public:
  Product(int rows, int columns, int* start, int* column, double* value) {
    if (mkl_sparse_d_create_csr(&a_, from_zero, rows, columns, start, start + 1, column, value) != 0)
      throw std::runtime_error("the library does not support this matrix in compressed rows");
  }
  ~Product() { mkl_sparse_destroy(a_); }
  Product(const Product&) = delete;
  Product& operator=(const Product&) = delete;

  // Computes y = factor A x. Returns false if the library reports a failure.
  bool multiply(double factor, const double* x, double* y) const { return mkl_sparse_d_mv(plain, factor, a_, general, x, 0, y) == 0; }

 private:
  static constexpr int from_zero = 0, plain = 10;
  static constexpr matrix_descr general = {20, 40, 50};  // of which the last two count for other types only
  sparse_matrix* a_ = nullptr;
};

}  // namespace fl::sparse

#endif
