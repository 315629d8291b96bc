#include "kernels/whole.hpp"

#include "firstlight/variant.hpp"

using Plain = fft::Whole<fl::OwnFourier>;
FL_VARIANT(fft, Plain)
