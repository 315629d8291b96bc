// Messages between parties that see each other's memory: one copy, made by the receiver (the threads of MPI/SX in R2).
//
// A short message travels in the line of the flag itself. For a longer one the flag allows the sender's buffer to be read;
// the answer notifies the sender that it has been.
#pragma once

#include "firstlight/await.hpp"
#include "firstlight/lines.hpp"
#include "pingpong.hpp"

namespace pingpong {

// One line if its memory begins with a line, and a neighbour apart: processors fetch lines in pairs.
struct Mailbox {
  static constexpr fl::Index short_bytes = 56;
  std::uint64_t number;  // of the message that may be taken
  unsigned char text[short_bytes];
  unsigned char apart[64];
};

inline void post(const State& s, const End& e, Mailbox& to, std::uint64_t number) {
  if (s.bytes > 0 && s.bytes <= Mailbox::short_bytes) std::memcpy(to.text, e.out, sizeof to.text);  // a fixed length; there is room
  std::atomic_ref(to.number).store(number, std::memory_order_release);
}

// `letter` is the sender's buffer.
inline void take(const State& s, const End& e, Mailbox& from, const unsigned char* letter, std::uint64_t number) {
  fl::await(&from.number, number, [] {});
  std::memcpy(e.in, s.bytes <= Mailbox::short_bytes ? from.text : letter, static_cast<std::size_t>(s.bytes));
}

}  // namespace pingpong
