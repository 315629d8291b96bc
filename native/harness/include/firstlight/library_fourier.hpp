// Fourier transforms of lines by a library.
#pragma once

#include <complex>
#include <vector>

#include "firstlight/fft.hpp"
#include "firstlight/fourier.hpp"

namespace fl::inline FL_ROLE {

class LibraryFourier {
 public:
  explicit LibraryFourier(Index n) : in(static_cast<std::size_t>(n)), out(in), forward_(plan(n, -1)), backward_(plan(n, 1)) {}
  LibraryFourier(const LibraryFourier&) = delete;
  LibraryFourier& operator=(const LibraryFourier&) = delete;
  ~LibraryFourier() {
    fftw_destroy_plan(forward_);
    fftw_destroy_plan(backward_);
  }
  std::vector<Complex> in, out;

  void forward() { fftw_execute(forward_); }
  void backward() { fftw_execute(backward_); }
  // From a line that stays as it is to one apart from it.
  void forward(const Complex* from, Complex* to) { fftw_execute_dft(forward_, const_cast<Complex*>(from), to); }
  void backward(const Complex* from, Complex* to) { fftw_execute_dft(backward_, const_cast<Complex*>(from), to); }

 private:
  static constexpr unsigned by_estimate = 64;
  fftw_plan_s* plan(Index n, int sign) { return fftw_plan_dft_1d(static_cast<int>(n), in.data(), out.data(), sign, by_estimate); }

  fftw_plan_s *forward_, *backward_;
};

}  // namespace fl::inline FL_ROLE
