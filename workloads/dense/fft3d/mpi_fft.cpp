#include "../messages.hpp"
#include "firstlight/library_fourier.hpp"
#include "kernels/box.hpp"

#include "firstlight/variant.hpp"

using Messages = fft3d::Transform<fl::LibraryFourier<>, spectral::Messages>;
FL_VARIANT(fft3d, Messages)
