#include "../messages.hpp"
#include "firstlight/library_fourier.hpp"
#include "kernels/six_step.hpp"

#include "firstlight/variant.hpp"

using Messages = fft::SixStep<fl::LibraryFourier<>, spectral::Messages>;
FL_VARIANT(fft, Messages)
