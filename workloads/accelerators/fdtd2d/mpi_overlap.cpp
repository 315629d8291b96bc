// Messages travel while the inner cells are computed.
#include "kernels/overlap.hpp"

using Overlap = fdtd2d::Overlapped<>;
FL_VARIANT(fdtd2d, Overlap)
