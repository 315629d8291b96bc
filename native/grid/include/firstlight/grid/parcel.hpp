// The unit of a transport. A transport defines how parcels travel: mpi.hpp, mpi_put.hpp, mpi_shared.hpp, one of these by a parameter
// (mpi_by.hpp), one_process.hpp, or a test's own. It is a type with
//   class Channel { Channel(const Transport&, std::vector<Parcel> receives, std::vector<Parcel> sends);
//                   void receive(); void send(); void wait(); void progress(); };
// receive() and send() only start; wait() ends both; buffers stay where they are from one exchange to the next. Ranks make channels
// in the same order, while no exchange between them is in flight, and one that sends nothing makes it, too.
//
// A channel may have memory of its own instead of a parcel's data:
//   unsigned char* outgoing(std::size_t);   from receive() to send(): where parcel number so and so of `sends` is packed
//   unsigned char* arrived(std::size_t);    from wait() to the next receive(): where that of `receives` is unpacked
// which are null for a parcel that travels from its own data and into it, and another place in the next exchange.
#pragma once

#include <cstddef>

#include "firstlight/role.hpp"
#include "firstlight/split.hpp"

namespace fl::grid::inline FL_ROLE {

struct Parcel {
  int peer = 0, tag = 0;
  void* data = nullptr;
  Index bytes = 0;
};

// Where a channel has it, or else the parcel's own data.
template <class Channel>
unsigned char* outgoing(Channel& channel, std::size_t number, unsigned char* data) {
  if constexpr (requires { channel.outgoing(number); })
    if (unsigned char* there = channel.outgoing(number)) return there;
  return data;
}
template <class Channel>
unsigned char* arrived(Channel& channel, std::size_t number, unsigned char* data) {
  if constexpr (requires { channel.arrived(number); })
    if (unsigned char* there = channel.arrived(number)) return there;
  return data;
}

}  // namespace fl::grid::inline FL_ROLE
