// One rank stops answering, deaf to polite signals, while the other waits for it.
#include <mpi.h>

#include <csignal>

#include "faulty.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(faulty::State& s, fl::Index iteration) {
  faulty::sum(s);
  if (iteration == 2 && s.team.rank == 1) {
    std::signal(SIGTERM, SIG_IGN);
    for (volatile int i = 0;;) i = 1 - i;
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace

FL_VARIANT(faulty, step)
