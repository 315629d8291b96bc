#include "kernels/processes.hpp"

#include "firstlight/variant.hpp"

namespace {

using Step = cg::Processes<>;

}  // namespace

FL_VARIANT(cg, Step)
