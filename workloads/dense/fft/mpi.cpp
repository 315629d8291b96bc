#include "../messages.hpp"
#include "six_step.hpp"

#include "firstlight/variant.hpp"

using Messages = fft::SixStep<fl::OwnFourier, spectral::Messages>;
FL_VARIANT(fft, Messages)
