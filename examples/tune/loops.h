#ifndef LOOPS_H
#define LOOPS_H

void stencil(int n, int m, const double* a, double* b);
void spmv(int n, const int* row, const int* column, const double* value, const double* x, double* y);
void matmul(int n, const double* a, const double* b, double* c);
void transpose(int n, const double* a, double* b);
double dot(long n, const double* x, const double* y);
void complex_multiply(long n, const double* a, const double* b, double* c);
void look_up(long n, const unsigned char* x, const float* table, float* y);
void prefix_sum(long n, const double* x, double* y);
void triad(long n, double s, const double* x, const double* y, double* z);
void column_sums(int n, int m, const double* a, double* sums);
void polynomial(long n, const double* x, double* y, int degree, const double* c);
double largest(long n, const double* x);

#endif
