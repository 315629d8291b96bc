// The last point that an exchange brings is lost.
#include "../altered.hpp"
#include "kernels/box.hpp"

#include "firstlight/variant.hpp"

namespace {

struct Lost {
  void operator()(spectral::Exchange& exchange, spectral::Buffers& b) {
    exchange.finish();
    b.in[b.in.size() - 1] = 0;
  }
};

using Messages = fft3d::Transform<fl::OwnFourier, spectral::Altered<Lost>>;

}  // namespace

FL_VARIANT(fft3d, Messages)
