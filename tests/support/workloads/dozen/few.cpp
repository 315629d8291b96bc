// Only some of them.
#include "firstlight/variant.hpp"
#include "loops.hpp"

namespace {

using dozen::dot, dozen::norm, dozen::prefix;
constexpr fl::Kernel table[] = {FL_KERNEL(dozen, dot), FL_KERNEL(dozen, norm), FL_KERNEL(dozen, prefix)};

}  // namespace

FL_KERNELS(dozen, table)
