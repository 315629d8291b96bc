// One-sided in one passive epoch: put into the neighbour's box, flush, put its flag, flush. The flush between orders the two. A
// neighbour can be one exchange ahead, not two, for it needs this one's words: two sets of boxes are enough.
#include "firstlight/grid/mpi_put.hpp"
#include "kernels/parcels.hpp"

using Exchange = halo::Parcels<fl::grid::MpiPut>;

FL_VARIANT(halo, Exchange, .refuse = halo::packed_only)
