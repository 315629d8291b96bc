// The Fortran variants under the harness: each f90 file provides pingpong_send and pingpong_receive with C binding.
#include "pingpong.hpp"

extern "C" {
void pingpong_send(const unsigned char* message, int bytes, int to);
void pingpong_receive(unsigned char* message, int bytes, int from);
}

namespace {

void step(pingpong::State& s, fl::Index) {
  const pingpong::End& e = s.ends[0];
  const auto bytes = static_cast<int>(s.bytes);
  if (e.first) {
    pingpong_send(e.out, bytes, e.peer);
    pingpong_receive(e.in, bytes, e.peer);
  } else {
    pingpong_receive(e.in, bytes, e.peer);
    pingpong::answer(s, e);
    pingpong_send(e.out, bytes, e.peer);
  }
}

}  // namespace

FL_VARIANT(pingpong, step)
