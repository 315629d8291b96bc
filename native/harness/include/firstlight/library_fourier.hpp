// Fourier transforms of lines by a library.
#pragma once

#include <complex>
#include <vector>

#include "firstlight/fft.hpp"
#include "firstlight/fourier.hpp"

namespace fl::inline FL_ROLE {

enum class Planning : unsigned { by_measurement = 0, by_estimate = 64 };

template <Planning planning = Planning::by_measurement>
class LibraryFourier {
 public:
  // `both`: backward() is called, too.
  explicit LibraryFourier(Index n, bool both = true)
      : in(static_cast<std::size_t>(n)), out(in), forward_(plan(n, -1)), backward_(both ? plan(n, 1) : nullptr) {}
  LibraryFourier(const LibraryFourier&) = delete;
  LibraryFourier& operator=(const LibraryFourier&) = delete;
  ~LibraryFourier() {
    fftw_destroy_plan(forward_);
    if (backward_ != nullptr) fftw_destroy_plan(backward_);
  }
  std::vector<Complex> in, out;

  void forward() { fftw_execute(forward_); }
  void backward() { fftw_execute(backward_); }
  // From a line that stays as it is to one apart from it.
  void forward(const Complex* from, Complex* to) { fftw_execute_dft(forward_, const_cast<Complex*>(from), to); }
  void backward(const Complex* from, Complex* to) { fftw_execute_dft(backward_, const_cast<Complex*>(from), to); }

 private:
  static constexpr double longest = 60;  // seconds of measuring; 2^22 points need 22 s

  fftw_plan_s* plan(Index n, int sign) {
    fftw_set_timelimit(longest);
    return fftw_plan_dft_1d(static_cast<int>(n), in.data(), out.data(), sign, static_cast<unsigned>(planning));
  }

  fftw_plan_s *forward_, *backward_;
};

}  // namespace fl::inline FL_ROLE
