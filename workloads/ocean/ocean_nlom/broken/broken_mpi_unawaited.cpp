// Halos are taken from shared boxes before their numbers show that they are there, while every second process is late.
#include <unistd.h>

#include "firstlight/grid/mpi_shared.hpp"
#include "kernels/run.hpp"

namespace {

struct Hasty : fl::grid::MpiShared {
  struct Channel : fl::grid::MpiShared::Channel {
    using fl::grid::MpiShared::Channel::Channel;
    void send() {
      int me = 0;
      MPI_Comm_rank(MPI_COMM_WORLD, &me);
      if (me % 2 == 1) usleep(1000);
      fl::grid::MpiShared::Channel::send();
    }
    void wait() {}
  };
};
using Broken = ocean_nlom::Run<Hasty>;

}  // namespace

FL_VARIANT(ocean_nlom, Broken)
