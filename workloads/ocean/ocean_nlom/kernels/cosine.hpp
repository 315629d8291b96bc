// Cosine transforms of lines, x_n = (X_0 + 2 sum_{m > 0} X_m cos(pi m (n + 1/2) / N)) / N, by a Fourier transform of the same length
// (J. Makhoul, IEEE Trans. ASSP 28 (1980) 27). They are linear, so the parts of a complex line are two real ones.
// The line is its even elements, then the odd ones from the last to the first.
#pragma once

#include "firstlight/fourier.hpp"
#include "ocean_nlom.hpp"

namespace ocean_nlom {

using fl::Complex, fl::times;

template <class Fourier>
class Cosine {
 public:
  explicit Cosine(Index n) : n_(n), fourier_(n), turns_(n / 2 + 1) {
    for (Index m = 0; 2 * m <= n; ++m) turns_[m] = std::polar(1.0, -M_PI * static_cast<double>(m) / (2 * static_cast<double>(n)));
  }
  // Transforms two lines. The results may overwrite them.
  void forward(const double* first, const double* second, double* x, double* y) {
    Complex *in = fourier_.in.data(), *out = fourier_.out.data();
    for (Index i = 0; i < n_ / 2; ++i) {
      in[i] = {first[2 * i], second[2 * i]};
      in[n_ - 1 - i] = {first[2 * i + 1], second[2 * i + 1]};
    }
    if (n_ % 2 == 1) in[n_ / 2] = {first[n_ - 1], second[n_ - 1]};
    fourier_.forward();
    x[0] = out[0].real(), y[0] = out[0].imag();
    for (Index m = 1; 2 * m <= n_; ++m) {  // two at a time: the turn of one is the other's conjugate, a quarter further
      const Complex turned = times(turns_[m], out[m]), back = times(std::conj(turns_[m]), out[n_ - m]);
      x[m] = 0.5 * (turned.real() + back.real()), y[m] = 0.5 * (turned.imag() + back.imag());
      x[n_ - m] = 0.5 * (back.imag() - turned.imag()), y[n_ - m] = 0.5 * (turned.real() - back.real());
    }
  }
  void backward(const double* x, const double* y, double* first, double* second) {
    Complex *in = fourier_.in.data(), *out = fourier_.out.data();
    in[0] = {x[0], y[0]};
    for (Index m = 1; 2 * m <= n_; ++m) {
      const Index back = n_ - m;
      in[m] = times(std::conj(turns_[m]), {x[m] + y[back], y[m] - x[back]});
      in[back] = times(turns_[m], {x[m] - y[back], y[m] + x[back]});
    }
    fourier_.backward();
    const double factor = 1 / static_cast<double>(n_);
    for (Index i = 0; i < n_ / 2; ++i) {
      first[2 * i] = factor * out[i].real(), second[2 * i] = factor * out[i].imag();
      first[2 * i + 1] = factor * out[n_ - 1 - i].real(), second[2 * i + 1] = factor * out[n_ - 1 - i].imag();
    }
    if (n_ % 2 == 1) first[n_ - 1] = factor * out[n_ / 2].real(), second[n_ - 1] = factor * out[n_ / 2].imag();
  }

 private:
  Index n_;
  Fourier fourier_;
  fl::Array<Complex> turns_;  // by quarters of a turn over n
};

}  // namespace ocean_nlom
