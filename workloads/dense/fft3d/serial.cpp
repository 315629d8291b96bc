#include "kernels/box.hpp"

#include "firstlight/variant.hpp"

using Lines = fft3d::Transform<fl::OwnFourier, spectral::Alone>;
FL_VARIANT(fft3d, Lines)
