// What comes from other processes is what came with the first transposes.
#include "../altered.hpp"
#include "kernels/six_step.hpp"

#include "firstlight/variant.hpp"

using Messages = fft::SixStep<fl::OwnFourier, spectral::Altered<spectral::Stale>>;
FL_VARIANT(fft, Messages)
