// BLAS of levels 1 to 3 by CBLAS names; `lda` counts elements from one row to the next where the order is row_major.
#pragma once

#include "firstlight/library.hpp"

namespace fl::blas {

enum Order : int { row_major = 101, column_major = 102 };
enum Transpose : int { as_is = 111, transposed = 112 };
enum Triangle : int { upper = 121, lower = 122 };
enum Diagonal : int { given = 131, unit = 132 };
enum Side : int { left = 141, right = 142 };

}  // namespace fl::blas

extern "C" {
double FL_CBLAS(ddot)(int n, const double* x, int incx, const double* y, int incy);

// y = alpha A x + beta y, A of m rows and n columns
void FL_CBLAS(dgemv)(fl::blas::Order order, fl::blas::Transpose a_is, int m, int n, double alpha, const double* a, int lda, const double* x,
                     int incx, double beta, double* y, int incy);

// C = alpha A B + beta C, A of m x k, B of k x n
void FL_CBLAS(dgemm)(fl::blas::Order order, fl::blas::Transpose a_is, fl::blas::Transpose b_is, int m, int n, int k, double alpha,
                     const double* a, int lda, const double* b, int ldb, double beta, double* c, int ldc);
void FL_CBLAS(sgemm)(fl::blas::Order order, fl::blas::Transpose a_is, fl::blas::Transpose b_is, int m, int n, int k, float alpha,
                     const float* a, int lda, const float* b, int ldb, float beta, float* c, int ldc);

// X of op(A) X = alpha B, or of X op(A) = alpha B, in B's place: A triangular, B of m x n
void FL_CBLAS(dtrsm)(fl::blas::Order order, fl::blas::Side a_is_on, fl::blas::Triangle triangle, fl::blas::Transpose a_is,
                     fl::blas::Diagonal diagonal, int m, int n, double alpha, const double* a, int lda, double* b, int ldb);
}
