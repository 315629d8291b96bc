// The transport of a program without MPI: one process, its own neighbour where the domain is periodic, has nothing to send.
#pragma once

#include <vector>

#include "firstlight/grid/blocks.hpp"
#include "firstlight/grid/parcel.hpp"

namespace fl::grid::inline FL_ROLE {

struct OneProcess {
  class Channel {
   public:
    Channel(const OneProcess&, const std::vector<Parcel>& receives, const std::vector<Parcel>& sends) {
      require(receives.empty() && sends.empty(), "a program without MPI has no other ranks to exchange with");
    }
    void receive() {}
    void send() {}
    void wait() {}
    void progress() {}
  };
};

}  // namespace fl::grid::inline FL_ROLE
