// All twelve.
#include "firstlight/variant.hpp"
#include "loops.hpp"

namespace {

using namespace dozen;
constexpr fl::Kernel table[] = {
    FL_KERNEL(dozen, copy),    FL_KERNEL(dozen, scale),   FL_KERNEL(dozen, add),        FL_KERNEL(dozen, triad),
    FL_KERNEL(dozen, product), FL_KERNEL(dozen, reverse), FL_KERNEL(dozen, difference), FL_KERNEL(dozen, positive),
    FL_KERNEL(dozen, prefix),  FL_KERNEL(dozen, sum),     FL_KERNEL(dozen, dot),        FL_KERNEL(dozen, norm),
};

}  // namespace

FL_KERNELS(dozen, table)
