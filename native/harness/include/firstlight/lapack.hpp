// LAPACK as Fortran calls it: matrices by columns, everything by reference, `info` 0 where all went well.
#pragma once

#include <cstddef>

#include "firstlight/library.hpp"

extern "C" {
// Solve A X = B by LU with row exchanges; A becomes its factors, B the solutions.
void FL_FORTRAN(dgesv)(const int* n, const int* columns, double* a, const int* lda, int* pivots, double* b, const int* ldb, int* info);

// A = L L^T, or U^T U with which = 'U'; the last argument is the length of the first, 1.
void FL_FORTRAN(dpotrf)(const char* which, const int* n, double* a, const int* lda, int* info, std::size_t length);
}
