// Wrong: of a batch only the last round trip is made. Both ends change their messages as if all had been.
#include "kernels/two_sided.hpp"

namespace {

void loop(pingpong::State& s, fl::Index first, fl::Index count) {
  for (fl::Index i = first; i < first + count; ++i) {
    mutate_inputs(s, i);
    const pingpong::End& e = s.ends[0];
    if (!e.first) pingpong::store(e.out + e.somewhere, pingpong::word(e.salt, i, e.somewhere / pingpong::word_bytes));
  }
  pingpong::round_trip(s, pingpong::send, pingpong::receive);
}

}  // namespace

FL_VARIANT(pingpong, loop)
