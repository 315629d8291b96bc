#include "message_ways.hpp"
#include "six_step.hpp"

#include "firstlight/variant.hpp"

using Messages = fft::SixStep<fl::OwnFourier, fft::Overlapped>;
FL_VARIANT(fft, Messages)
