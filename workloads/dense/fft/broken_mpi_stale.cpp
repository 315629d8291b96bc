// What comes from other processes is what came with the first three transposes.
#include "message_ways.hpp"
#include "six_step.hpp"

#include "firstlight/variant.hpp"

namespace {

struct Stale : fft::Overlapped {
  int exchanges = 0;

  template <class Pack, class Unpack, class Keep>
  void operator()(const fl::Team& team, fft::Buffers& b, Pack pack, Unpack unpack, Keep keep) {
    if (exchanges++ < 3) return Overlapped::operator()(team, b, pack, unpack, keep);
    keep();
    for (int q = 0; q < team.ranks; ++q)
      if (q != team.rank) unpack(q);
  }
};

using Messages = fft::SixStep<fl::OwnFourier, Stale>;

}  // namespace

FL_VARIANT(fft, Messages)
