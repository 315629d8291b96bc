// One thread, a cell after the other: what every other variant is compared with.
#include "kernels/simple.hpp"

using Serial = cfd::Simple<cfd::Alone, cfd::PlainRows>;

FL_VARIANT(cfd, Serial)
