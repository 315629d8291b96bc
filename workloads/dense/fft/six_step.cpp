#include "kernels/six_step.hpp"

#include "firstlight/variant.hpp"

using InCaches = fft::SixStep<fl::OwnFourier, spectral::Alone>;
FL_VARIANT(fft, InCaches)
