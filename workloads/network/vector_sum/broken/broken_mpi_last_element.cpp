// Forgets the last element.
#include "kernels/exchange.hpp"

namespace {

void step(vector_sum::State& s, fl::Index) {
  MPI_Allreduce(s.own.data(), s.result.data(), static_cast<int>(s.n - 1), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

}  // namespace

FL_VARIANT(vector_sum, step)
