// Fourier transforms by the interface of FFTW 3; plans are made, used and destroyed by one thread.
#pragma once

#include <complex>

extern "C" {
struct fftw_plan_s;

// A transform of n points without a factor; sign -1: forward. `flags`: 64 to plan by estimate, 0 by measurement.
fftw_plan_s* fftw_plan_dft_1d(int n, std::complex<double>* in, std::complex<double>* out, int sign, unsigned flags);
// Planning by measurement goes on by estimate after this many seconds.
void fftw_set_timelimit(double seconds);
void fftw_execute(fftw_plan_s* plan);
// The same from other arrays to others, aligned alike modulo 16 bytes; apart, the input stays as it is.
void fftw_execute_dft(fftw_plan_s* plan, std::complex<double>* in, std::complex<double>* out);
void fftw_destroy_plan(fftw_plan_s* plan);
}
