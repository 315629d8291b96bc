#include "kernels/one_thread.hpp"

#include "firstlight/variant.hpp"

namespace {

using Step = cg::OneThread<>;

}  // namespace

FL_VARIANT(cg, Step)
