// Has a kernel that the workload does not know.
#include "firstlight/variant.hpp"
#include "loops.hpp"

namespace {

void cube(dozen::State&, fl::Index) {}
constexpr fl::Kernel table[] = {FL_KERNEL(dozen, cube)};

}  // namespace

FL_KERNELS(dozen, table)
