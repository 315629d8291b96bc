// Counts the first process's contribution twice.
#include "kernels/exchange.hpp"

namespace {

struct Sum : vector_sum::WholeBuffer {
  void step(vector_sum::State& s, fl::Index) {
    const double* mine = s.own.data();
    if (s.team.rank == 0) {
      vector_sum::add(s.buffer.data(), mine, mine, s.n);
      mine = s.buffer.data();
    }
    MPI_Allreduce(mine, s.result.data(), static_cast<int>(s.n), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
};

}  // namespace

FL_VARIANT(vector_sum, Sum)
