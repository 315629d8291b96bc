// MPI_Send and MPI_Recv: the measure of every other variant.
#include "kernels/two_sided.hpp"

namespace {

void step(pingpong::State& s, fl::Index) { pingpong::round_trip(s, pingpong::send, pingpong::receive); }

}  // namespace

FL_VARIANT(pingpong, step)
