#include "firstlight/library_fourier.hpp"
#include "kernels/six_step.hpp"

#include "firstlight/variant.hpp"

using InCaches = fft::SixStep<fl::LibraryFourier<>, spectral::Alone>;
FL_VARIANT(fft, InCaches)
