"""Numerical libraries (BLAS, LAPACK, FFT): one probe a file, each `probe(host) -> Found` of Library."""
