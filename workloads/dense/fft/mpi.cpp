#include "../messages.hpp"
#include "kernels/six_step.hpp"

#include "firstlight/variant.hpp"

using Messages = fft::SixStep<fl::OwnFourier, spectral::Messages>;
FL_VARIANT(fft, Messages)
