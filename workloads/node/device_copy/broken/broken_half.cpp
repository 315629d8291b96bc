// Copies the first half.
#include "device_copy.hpp"

namespace {

void step(device_copy::State& s, fl::Index) {
  std::memcpy(s.target.data(), s.source.data() + s.offset, static_cast<std::size_t>(s.words / 2) * sizeof(device_copy::Word));
}

}  // namespace

FL_VARIANT(device_copy, step)
