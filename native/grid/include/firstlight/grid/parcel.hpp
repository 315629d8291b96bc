// What a transport carries. A transport says how parcels travel: mpi.hpp, one_process.hpp, or a test's own. It is a type with
//   class Channel { Channel(const Transport&, std::vector<Parcel> receives, std::vector<Parcel> sends);
//                   void receive(); void send(); void wait(); void progress(); };
// receive() and send() only start; wait() ends both; buffers stay where they are from one exchange to the next.
#pragma once

#include "firstlight/role.hpp"
#include "firstlight/split.hpp"

namespace fl::grid::inline FL_ROLE {

struct Parcel {
  int peer = 0, tag = 0;
  void* data = nullptr;
  Index bytes = 0;
};

}  // namespace fl::grid::inline FL_ROLE
