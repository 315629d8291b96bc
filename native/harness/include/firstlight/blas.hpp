// CBLAS names, whatever prefix the library at hand gives its symbols (FL_BLAS_PREFIX is set by the build).
#pragma once

#define FL_PASTE_(a, b) a##b
#define FL_PASTE(a, b) FL_PASTE_(a, b)
#ifndef FL_BLAS_PREFIX
#define FL_BLAS_PREFIX
#endif
#define FL_CBLAS(name) FL_PASTE(FL_BLAS_PREFIX, cblas_##name)

extern "C" {
double FL_CBLAS(ddot)(int n, const double* x, int incx, const double* y, int incy);
}
