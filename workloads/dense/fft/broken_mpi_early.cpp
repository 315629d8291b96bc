// Parts are unpacked before they came.
#include "message_ways.hpp"
#include "six_step.hpp"

#include "firstlight/variant.hpp"

namespace {

struct Early {
  template <class Pack, class Unpack>
  void operator()(const fl::Team& team, fft::Buffers& b, Pack pack, Unpack unpack) {
    for (int q = 0; q < team.ranks; ++q) unpack(q);
    fft::Pairwise()(team, b, pack, [](int) {});
  }
};

using Messages = fft::SixStep<fl::OwnFourier, Early>;

}  // namespace

FL_VARIANT(fft, Messages)
