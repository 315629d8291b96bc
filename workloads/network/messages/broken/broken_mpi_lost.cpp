// Loses a text now and then: its slot is published, and contains the previous content.
#include "kernels/run.hpp"

namespace {

struct Losing : messages::Windows {
  int puts = 0;

  void put(int peer, Word to, const void* from, fl::Index bytes) {
    if (*static_cast<const Flag*>(from) >> 30 != 0 || bytes < 12 || ++puts % 37 != 0) return Windows::put(peer, to, from, bytes);
    Windows::put(peer, to, from, 4);  // the header
  }
};

using Run = messages::Run<Losing>;

}  // namespace

FL_VARIANT(messages, Run)
