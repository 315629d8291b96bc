// Processes of threads: all of them pack and compute, the first one calls MPI.
#include "kernels/mpi_run.hpp"

namespace {

using Hybrid = himeno::Overlapped<himeno::Vectors<himeno::Store::ordinary>, himeno::grid::OpenMp>;

void place(himeno::State& s) { himeno::place(s, himeno::grid::OpenMp{s.team.threads}); }

}  // namespace

FL_VARIANT(himeno, Hybrid, .first_touch = place)
