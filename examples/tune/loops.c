/* Twelve loops as programs have them, marked for ./fl tune loop. Compiled by any compiler; CC=fl-cc takes what was tuned. */
#include "loops.h"

void stencil(int n, int m, const double* a, double* b) {
#pragma tune precious trip(8 : 500) range(m, 64 : 300) extent(a, (n + 1) * m) extent(b, n* m)
  for (int i = 1; i < n - 1; i++) {
    for (int j = 1; j < m - 1; j++) {
      b[i * m + j] = 0.25 * (a[i * m + j - 1] + a[i * m + j + 1] + a[(i - 1) * m + j] + a[(i + 1) * m + j]);
    }
  }
}

void spmv(int n, const int* row, const int* column, const double* value, const double* x, double* y) {
#pragma tune precious trip(100 : 4000) range(row, ascending 0 : 30 * n) range(column, 0 : n - 1) fpmode(reassoc) tol(rel = 1e-12)
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int k = row[i]; k < row[i + 1]; k++) {
      sum += value[k] * x[column[k]];
    }
    y[i] = sum;
  }
}

void matmul(int n, const double* a, const double* b, double* c) {
#pragma tune precious trip(8 : 160) extent(a, n* n) extent(b, n* n) extent(c, n* n)
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      for (int k = 0; k < n; k++) {
        c[i * n + j] += a[i * n + k] * b[k * n + j];
      }
    }
  }
}

void transpose(int n, const double* a, double* b) {
#pragma tune precious trip(32 : 1024) extent(a, n* n) extent(b, n* n)
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      b[i * n + j] = a[j * n + i];
    }
  }
}

double dot(long n, const double* x, const double* y) {
  double sum = 0;
#pragma tune precious trip(100 : 10000) tol(rel = 1e-12) fpmode(reassoc)
  for (long i = 0; i < n; i++) {
    sum += x[i] * y[i];
  }
  return sum;
}

void complex_multiply(long n, const double* a, const double* b, double* c) {
#pragma tune precious trip(64 : 4000) extent(a, 2 * n) extent(b, 2 * n) extent(c, 2 * n)
  for (long i = 0; i < n; i++) {
    c[2 * i] = a[2 * i] * b[2 * i] - a[2 * i + 1] * b[2 * i + 1];
    c[2 * i + 1] = a[2 * i] * b[2 * i + 1] + a[2 * i + 1] * b[2 * i];
  }
}

void look_up(long n, const unsigned char* x, const float* table, float* y) {
#pragma tune precious trip(100 : 10000) extent(table, 256)
  for (long i = 0; i < n; i++) {
    y[i] = table[x[i]];
  }
}

void prefix_sum(long n, const double* x, double* y) {
  double sum = 0;
#pragma tune precious trip(100 : 10000) tol(rel = 1e-12) fpmode(reassoc)
  for (long i = 0; i < n; i++) {
    sum += x[i];
    y[i] = sum;
  }
}

void triad(long n, double s, const double* x, const double* y, double* z) {
#pragma tune precious trip(100 : 10000) even
  for (long i = 0; i < n; i++) {
    z[i] = x[i] + s * y[i];
  }
}

void column_sums(int n, int m, const double* a, double* sums) {
#pragma tune precious trip(16 : 600) range(m, 64 : 300) extent(a, n* m) extent(sums, n)
  for (int j = 0; j < n; j++) {
    for (int i = 0; i < m; i++) {
      sums[j] += a[i * n + j];
    }
  }
}

void polynomial(long n, const double* x, double* y, int degree, const double* c) {
#pragma tune precious trip(100 : 10000) range(degree, 5 : 12) extent(c, degree + 1)
  for (long i = 0; i < n; i++) {
    double p = c[degree];
    for (int k = degree - 1; k >= 0; k--) {
      p = p * x[i] + c[k];
    }
    y[i] = p;
  }
}

double largest(long n, const double* x) {
  double most = x[0];
#pragma tune precious trip(100 : 10000) fpmode(reassoc)
  for (long i = 0; i < n; i++) {
    if (x[i] > most) most = x[i];
  }
  return most;
}
