// Exports native/harness/include/firstlight/fourier.hpp with C linkage for tests.
#include "../support/heap.hpp"
#include "firstlight/fourier.hpp"

// Largest error of the transform of n numbers there (0) or back (1), of the root of their squares, against sums in long double.
extern "C" double worst(long long n, const double* numbers, int back) {
  const auto* from = reinterpret_cast<const fl::Complex*>(numbers);
  std::vector<fl::Complex> to(static_cast<std::size_t>(n));
  fl::OwnFourier own(n);
  back != 0 ? own.backward(from, to.data()) : own.forward(from, to.data());
  std::vector<std::complex<long double>> roots;
  for (long long k = 0; k < n; ++k)
    roots.push_back(std::polar(1.0L, (back != 0 ? 2 : -2) * M_PIl * static_cast<long double>(k) / static_cast<long double>(n)));
  long double squares = 0, error = 0;
  for (long long j = 0; j < n; ++j) squares += std::norm(std::complex<long double>(from[j]));
  for (long long k = 0; k < n; ++k) {
    std::complex<long double> sum = 0;
    for (long long j = 0; j < n; ++j) sum += fl::times(std::complex<long double>(from[j]), roots[static_cast<std::size_t>(j * k % n)]);
    error = std::max(error, std::abs(sum - std::complex<long double>(to[static_cast<std::size_t>(k)])));
  }
  return static_cast<double>(squares > 0 ? error / std::sqrt(squares) : error);
}

extern "C" int suits(long long n) { return fl::FourierInLanes<fl::simd::width<double>>::suits(n) ? 1 : 0; }
