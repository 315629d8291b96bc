// For comparison: a copy inside the host's memory, by the C library.
#include "device_copy.hpp"

namespace {

void step(device_copy::State& s, fl::Index) {
  std::memcpy(s.target.data(), s.source.data() + s.offset, static_cast<std::size_t>(s.words) * sizeof(device_copy::Word));
}

std::string refuse(const device_copy::Params& p) {
  if (p.memory != device_copy::Memory::pageable)
    return "this variant of device_copy needs memory=pageable, because it uses neither a GPU nor pinned memory";
  return "";
}

}  // namespace

FL_VARIANT(device_copy, step, .refuse = refuse)
