// Messages travel while the points are computed that need no halo.
#include "kernels/mpi_run.hpp"

namespace {

using Overlap = himeno::Overlapped<himeno::Vectors<himeno::Store::ordinary>>;

}  // namespace

FL_VARIANT(himeno, Overlap)
