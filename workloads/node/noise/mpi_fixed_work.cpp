// Quanta of work; after each all processes wait for each other, as an iterative solver does at every scalar product. What was taken
// from one is then lost for all.
#include <mpi.h>

#include "noise.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(noise::State& s, fl::Index) {
  noise::do_summed_quanta(
      s, [](const std::uint64_t& mine, std::uint64_t& sum) { MPI_Allreduce(&mine, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD); });
}

}  // namespace

FL_VARIANT(noise, step, .traits = {.waiting = true})
