#include "firstlight/library_fourier.hpp"
#include "kernels/whole.hpp"

#include "firstlight/variant.hpp"

using Library = fft::Whole<fl::LibraryFourier<>>;
FL_VARIANT(fft, Library)
