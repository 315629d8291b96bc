#include "kernels/unrolled.hpp"

FL_VARIANT(dot, dot::unrolled<8>)
