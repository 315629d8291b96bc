#include "firstlight/library_fourier.hpp"
#include "kernels/box.hpp"

#include "firstlight/variant.hpp"

using Lines = fft3d::Transform<fl::LibraryFourier<>, spectral::Alone>;
FL_VARIANT(fft3d, Lines)
