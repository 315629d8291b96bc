#include "../messages.hpp"
#include "kernels/box.hpp"

#include "firstlight/variant.hpp"

using Messages = fft3d::Transform<fl::OwnFourier, spectral::Messages>;
FL_VARIANT(fft3d, Messages)
