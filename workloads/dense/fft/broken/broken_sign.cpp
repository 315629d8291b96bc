// The other sign in the exponent.
#include "kernels/whole.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(fft::State& s, fl::Index) {
  fl::OwnFourier fourier(s.p.n);
  std::copy(s.in.begin(), s.in.end(), fourier.in.begin());
  fourier.backward();
  std::copy(fourier.out.begin(), fourier.out.end(), s.out.begin());
}

}  // namespace

FL_VARIANT(fft, step)
