// What comes from other processes is what came with the first transposes.
#include "../altered.hpp"
#include "kernels/box.hpp"

#include "firstlight/variant.hpp"

using Messages = fft3d::Transform<fl::OwnFourier, spectral::Altered<spectral::Stale>>;
FL_VARIANT(fft3d, Messages)
