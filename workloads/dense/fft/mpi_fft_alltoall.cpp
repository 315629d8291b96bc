#include "firstlight/library_fourier.hpp"
#include "message_ways.hpp"
#include "six_step.hpp"

#include "firstlight/variant.hpp"

using Messages = fft::SixStep<fl::LibraryFourier, fft::AllToAll>;
FL_VARIANT(fft, Messages)
