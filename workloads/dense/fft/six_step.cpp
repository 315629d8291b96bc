#include "six_step.hpp"

#include "firstlight/variant.hpp"

using InCaches = fft::SixStep<fl::OwnFourier, fft::Alone>;
FL_VARIANT(fft, InCaches)
