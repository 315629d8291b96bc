// Parts are unpacked before they came.
#include "message_ways.hpp"
#include "six_step.hpp"

#include "firstlight/variant.hpp"

namespace {

struct Early {
  template <class Pack, class Unpack, class Keep>
  void operator()(const fl::Team& team, fft::Buffers& b, Pack pack, Unpack unpack, Keep keep) {
    for (int q = 0; q < team.ranks; ++q)
      if (q != team.rank) unpack(q);
    fft::Pairwise()(team, b, pack, [](int) {}, keep);
  }
};

using Messages = fft::SixStep<fl::OwnFourier, Early>;

}  // namespace

FL_VARIANT(fft, Messages)
