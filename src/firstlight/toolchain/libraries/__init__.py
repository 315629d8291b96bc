"""Numerical libraries (BLAS, LAPACK, FFT): one probe per file, each `probe(host) -> Found` of Library."""
